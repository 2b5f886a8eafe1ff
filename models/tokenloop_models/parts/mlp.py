"""The position-wise network of a layer."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F  # noqa: N812 - the name that every torch reader knows

from tokenloop_models.parts.linear import Viewed

if TYPE_CHECKING:
    from tokenloop_models.parts.linear import Product

Activation = Callable[[torch.Tensor], torch.Tensor]

_gelu_tanh = partial(F.gelu, approximate="tanh")
ACTIVATIONS: dict[str, Activation] = {
    "silu": F.silu,
    "swish": F.silu,
    "gelu": F.gelu,
    "gelu_new": _gelu_tanh,
    "gelu_pytorch_tanh": _gelu_tanh,
    "gelu_fast": _gelu_tanh,
    "relu": F.relu,
}
"""By the names that files use: ``gelu`` is exact, the others of its name a formula with tanh."""


def _halves(rows: torch.Tensor) -> tuple[torch.Tensor, ...]:
    return rows.chunk(2, dim=-1)


class GatedMLP:
    """down(activation(gate(x)) · up(x)), gate and up in one product (Shazeer, 2020)."""

    __slots__ = ("_activation", "_gate_up", "down")

    def __init__(self, gate_up: Product, down: Product, activation: Activation) -> None:
        """Take the products: gate_up (2 · intermediate, hidden), down (hidden, intermediate)."""
        self._gate_up = Viewed(gate_up, _halves)
        self.down = down
        self._activation = activation

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """(rows, hidden) → (rows, hidden)."""
        gate, up = self._gate_up(x)
        return self.down(self._activation(gate).mul_(up))


class PlainMLP:
    """down(activation(up(x))), as in GPT-2."""

    __slots__ = ("_activation", "down", "up")

    def __init__(self, up: Product, down: Product, activation: Activation) -> None:
        """Take the products: up (intermediate, hidden), down (hidden, intermediate)."""
        self.up = up
        self.down = down
        self._activation = activation

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """(rows, hidden) → (rows, hidden)."""
        return self.down(self._activation(self.up(x)))


MLP = GatedMLP | PlainMLP
