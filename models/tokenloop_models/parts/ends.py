"""The two ends of a decoder: ids become hidden states, hidden states become logits."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F  # noqa: N812 - the name that every torch reader knows

if TYPE_CHECKING:
    from tokenloop_models.parts.linear import Linear
    from tokenloop_models.parts.norms import Norm
    from tokenloop_models.parts.span import Where


class Embedding:
    """scale · table[id], projected to the hidden width where it has another, + positions[p]."""

    def __init__(
        self,
        table: torch.Tensor,
        *,
        scale: float = 1.0,
        project: Linear | None = None,
        positions: torch.Tensor | None = None,
    ) -> None:
        """Keep the tables.

        Args:
            table: (vocabulary, width).
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
        hidden = F.embedding(ids, self.table)
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
        product: Linear,
        *,
        norm: Norm | None,
        project: Linear | None = None,
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
