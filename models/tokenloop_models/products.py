"""How a decoder's matrix products are made from its weights: exactly, or packed."""

from __future__ import annotations

from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING

from tokenloop_models.levels import has_levels, read_levels
from tokenloop_models.parts.ends import StoredTable, Table
from tokenloop_models.parts.linear import Linear
from tokenloop_models.parts.packed import PackedLinear, packable

if TYPE_CHECKING:
    import torch

    from tokenloop_models.gguf_types import TensorType
    from tokenloop_models.parts.linear import Product
    from tokenloop_models.weights import Weights


class Products:
    """Products over dequantised weights."""

    def __init__(self, weights: Weights) -> None:
        """Take what they are made of."""
        self._weights = weights

    def make(self, *roles: str, layer: int = 0, expert: int | None = None) -> Product:
        """Read the weights of products with the same input and make them one."""
        weights = self._weights
        return Linear(weights.joined(roles, layer, expert), weights.joined_bias(roles, layer))

    def embedding(self) -> Table | StoredTable:
        """Read the embedding."""
        return Table(self._rows)

    def tied_head(self) -> Product:
        """Make the head that is the embedding, of the same memory."""
        return Linear(self._rows, self._weights.joined_bias(("head",)))

    @property
    def notices(self) -> tuple[str, ...]:
        """What a person must know of how they run."""
        return ()

    @cached_property
    def _rows(self) -> torch.Tensor:
        return self._weights.one("embedding")


class PackedProducts(Products):
    """Products over the blocks of a file as they are, where they have a packed form.

    Attributes:
        packed: how many products have such a form.
        others: what the weights of the others are stored in, and how many those are.
    """

    def __init__(self, weights: Weights, dtype: torch.dtype) -> None:
        """Take what they are made of, and the dtype of hidden states."""
        super().__init__(weights)
        self._dtype = dtype
        self.packed = 0
        self.others: Counter[str] = Counter()

    def make(self, *roles: str, layer: int = 0, expert: int | None = None) -> Product:
        """As for exact products; where one has no packed form, it is exact."""
        weights = self._weights
        bias_roles = ("head",) if roles == ("embedding",) else roles
        kinds = weights.block_types(roles, layer, expert)
        outputs, inputs = weights.size(roles, layer)
        blocks = [kind for kind in kinds if kind is not None and has_levels(kind)]
        if len(blocks) < len(kinds) or not packable(outputs, inputs):
            self.others[_named(kinds, outputs, inputs)] += 1
            return super().make(*roles, layer=layer, expert=expert)
        self.packed += 1
        levels = [
            read_levels(weights.blocks(role, layer, expert), kind)
            for role, kind in zip(roles, blocks, strict=True)
        ]
        return PackedLinear(levels, weights.joined_bias(bias_roles, layer))

    def embedding(self) -> Table | StoredTable:
        """Leave the embedding's rows as they are stored: a pass needs few of them."""
        kind = self._weights.block_types(("embedding",))[0]
        if kind is None:
            return super().embedding()
        return StoredTable(self._weights.blocks("embedding"), kind, self._dtype)

    def tied_head(self) -> Product:
        """Make the head from the embedding's blocks."""
        return self.make("embedding")

    @property
    def notices(self) -> tuple[str, ...]:
        """How many products have no packed form, and why."""
        left = self.others.total()
        if not left:
            return ()
        why = ", ".join(f"{name} ×{count:,}" for name, count in self.others.most_common())
        every = self.packed + left
        return (f"{left:,} of {every:,} products have no packed form and run unpacked: {why}",)


def _named(kinds: list[TensorType | None], outputs: int, inputs: int) -> str:
    names = dict.fromkeys(
        "plain floats" if kind is None else kind.name
        for kind in kinds
        if kind is None or not has_levels(kind)
    )
    return " and ".join(names) or f"{outputs} × {inputs}"
