"""Normalisation of the hidden state before attention, MLP and head."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch.nn.functional as F  # noqa: N812 - the name that every torch reader knows

if TYPE_CHECKING:
    import torch


class RMSNorm:
    """x / √(mean(x²) + ε) · w, over the last dimension (Zhang and Sennrich, 2019)."""

    __slots__ = ("_shape", "eps", "weight")

    def __init__(self, weight: torch.Tensor, eps: float) -> None:
        """Keep the scale, (hidden,), and ε."""
        self.weight = weight
        self.eps = eps
        self._shape = tuple(weight.shape)

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """Normalise each row: (rows, hidden) → (rows, hidden)."""
        return F.rms_norm(x, self._shape, self.weight, self.eps)
