"""The position-wise network of a layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F  # noqa: N812 - the name that every torch reader knows

if TYPE_CHECKING:
    from tokenloop_models.parts.linear import Linear

ACTIVATIONS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {"silu": F.silu}


class GatedMLP:
    """down(activation(gate(x)) · up(x)), gate and up in one product (Shazeer, 2020)."""

    __slots__ = ("_activation", "down", "gate_up")

    def __init__(self, gate_up: Linear, down: Linear, activation: str) -> None:
        """Take the products: gate_up (2 · intermediate, hidden), down (hidden, intermediate)."""
        self.gate_up = gate_up
        self.down = down
        self._activation = ACTIVATIONS[activation]

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """(rows, hidden) → (rows, hidden)."""
        gate, up = self.gate_up(x).chunk(2, dim=-1)
        return self.down(self._activation(gate).mul_(up))
