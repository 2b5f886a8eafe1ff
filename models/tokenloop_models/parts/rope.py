"""Rotary position embeddings (Su et al., 2021): each pair of a head's features turns by an angle.

Pair i of a query or key at position p turns by p · f[i]. A family resolves its file's settings to
the frequencies f; the table below holds the turns of the positions used so far.
"""

from __future__ import annotations

import math

import torch

GROWTH = 1024


def frequencies(theta: float, dims: int) -> torch.Tensor:
    """The plain frequencies, f[i] = θ^(−2i / dims): float32, (dims / 2,)."""
    return 1.0 / theta ** (torch.arange(0, dims, 2, dtype=torch.float32) / dims)


def linear(plain: torch.Tensor, factor: float) -> torch.Tensor:
    """Position interpolation (Chen et al., 2023): every position counts 1 / factor."""
    return plain / factor


def llama3(
    plain: torch.Tensor, factor: float, low: float, high: float, original_context: int
) -> torch.Tensor:
    """Llama 3.1's scaling: slow turns are stretched by factor, fast ones kept, blended between.

    A frequency counts as fast when its wavelength fits more than ``high`` times into the context
    that the model was first trained with, as slow when it fits less than ``low`` times.
    Source: ``rope_type = "llama3"`` of the reference implementation (meta-llama/llama-models).
    """
    turns = original_context * plain / (2 * math.pi)
    fast = ((turns - low) / (high - low)).clamp(0.0, 1.0)
    return (1 - fast) * plain / factor + fast * plain


class RotaryTable:
    """The turns e^(i·p·f) of positions 0, 1, …: made as they are needed, kept from then on."""

    def __init__(self, frequencies: tuple[float, ...], limit: int, device: torch.device) -> None:
        """Start empty.

        Args:
            frequencies: one a pair of features.
            limit: the number of positions that are ever asked for.
            device: where the table lies.
        """
        self._frequencies = torch.tensor(frequencies, dtype=torch.float32)
        self._limit = limit
        self._turns = torch.empty(0, 1, len(frequencies), dtype=torch.complex64, device=device)

    def turns(self, start: int, stop: int) -> torch.Tensor:
        """The turns of positions [start, stop): complex64, (positions, 1, pairs)."""
        if stop > len(self._turns):
            self._grow(stop)
        return self._turns[start:stop]

    def _grow(self, needed: int) -> None:
        size = min(self._limit, max(needed, 2 * len(self._turns), GROWTH))
        positions = torch.arange(size, dtype=torch.float32)
        # float32 angles, as in the reference implementation: models were trained with them
        angles = torch.outer(positions, self._frequencies)
        turns = torch.complex(angles.cos(), angles.sin())
        self._turns = turns[:, None].to(self._turns.device)


def rotate_(heads: torch.Tensor, turns: torch.Tensor) -> None:
    """Turn the pairs of features of each head, in place.

    The features of a pair lie side by side, so that a pair is one complex number: 6 µs for one
    position, where splitting a head into halves and stacking them takes 21 µs.

    Args:
        heads: (positions, heads, 2 · pairs); may be a view.
        turns: complex64, (positions, 1, pairs).
    """
    pairs = heads.view(*heads.shape[:-1], -1, 2)  # (positions, heads, pairs, 2)
    if heads.dtype == torch.float32:
        torch.view_as_complex(pairs).mul_(turns)
    else:  # there are no complex numbers of lower precision to multiply with
        pairs.copy_(torch.view_as_real(torch.view_as_complex(pairs.float()) * turns))


def interleaved(rows: torch.Tensor, heads: int) -> torch.Tensor:
    """Reorder each head's rows from two halves (all first, all second features) to pairs.

    Query and key are reordered alike, so their products stay what they were.

    Args:
        rows: a weight (heads · dim, inputs) or bias (heads · dim,) of a query or key product.
        heads: how many heads it makes.
    """
    half = rows.shape[0] // heads // 2
    halves = rows.view(heads, 2, half, *rows.shape[1:])
    return halves.transpose(1, 2).reshape(rows.shape)
