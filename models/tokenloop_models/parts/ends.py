"""The two ends of a decoder: ids become hidden states, hidden states become logits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F  # noqa: N812 - the name that every torch reader knows

from tokenloop_models.dequantise import dequantise

if TYPE_CHECKING:
    from tokenloop_models.gguf_types import TensorType
    from tokenloop_models.parts.linear import Product
    from tokenloop_models.parts.norms import Norm
    from tokenloop_models.parts.span import Where


class Table:
    """Rows of numbers."""

    def __init__(self, rows: torch.Tensor) -> None:
        """Keep the rows, (vocabulary, width)."""
        self.rows = rows

    def __call__(self, ids: torch.Tensor) -> torch.Tensor:
        """Look rows up: int64, (positions,) → (positions, width)."""
        return F.embedding(ids, self.rows)


class StoredTable:
    """Rows as they are stored, dequantised when they are looked up."""

    def __init__(self, blocks: torch.Tensor, kind: TensorType, dtype: torch.dtype) -> None:
        """Keep the rows.

        Args:
            blocks: uint8, (vocabulary, row bytes).
            kind: what they are.
            dtype: of the numbers looked up.
        """
        self._blocks = blocks
        self._kind = kind
        self._dtype = dtype

    def __call__(self, ids: torch.Tensor) -> torch.Tensor:
        """Look rows up: int64, (positions,) → (positions, width)."""
        values = dequantise(self._blocks[ids].view(-1), self._kind)
        return values.view(len(ids), -1).to(self._dtype)


class Embedding:
    """scale · table[id], projected to the hidden width where it has another, + positions[p]."""

    def __init__(
        self,
        table: Table | StoredTable,
        *,
        scale: float = 1.0,
        project: Product | None = None,
        positions: torch.Tensor | None = None,
    ) -> None:
        """Keep the tables.

        Args:
            table: of tokens, (vocabulary, width).
            scale: what its rows are multiplied with.
            project: (hidden, width).
            positions: learned, the first row for position 0: (positions, hidden).
        """
        self.table = table
        self._scale = scale
        self._project = project
        self._positions = positions

    def __call__(self, ids: torch.Tensor, where: Where) -> torch.Tensor:
        """Embed the ids of some positions: int64, (positions,) → (positions, hidden)."""
        hidden = self.table(ids)
        if self._scale != 1.0:
            hidden = hidden.mul_(self._scale)
        if self._project is not None:
            hidden = self._project(hidden)
        if self._positions is not None:
            hidden = hidden + self._positions[where]
        return hidden


class Head:
    """scale · head(norm(x)), squashed to cap · tanh(logit / cap) where there is a cap."""

    def __init__(
        self,
        product: Product,
        *,
        norm: Norm | None,
        project: Product | None = None,
        scale: float = 1.0,
        cap: float | None = None,
    ) -> None:
        """Take the parts.

        Args:
            product: (vocabulary, width).
            norm: before all others.
            project: (width, hidden).
            scale: what logits are multiplied with.
            cap: into which logits are squashed.
        """
        self._product = product
        self._norm = norm
        self._project = project
        self._scale = scale
        self._cap = cap

    def __call__(self, hidden: torch.Tensor) -> torch.Tensor:
        """Score all candidates: (rows, hidden) → float32, (rows, vocabulary)."""
        if self._norm is not None:
            hidden = self._norm(hidden)
        if self._project is not None:
            hidden = self._project(hidden)
        logits = self._product(hidden).float()
        if self._scale != 1.0:
            logits.mul_(self._scale)
        if self._cap is not None:
            logits.div_(self._cap).tanh_().mul_(self._cap)
        return logits
