"""Rotary position embeddings (Su et al., 2021): each pair of a head's features turns by an angle.

Pair i of a query or key at position p turns by p · f[i]. A family resolves its file's settings to
the frequencies f; the table below holds the turns of the positions used so far.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import torch

GROWTH = 1024


class Frequencies(Protocol):
    """The frequencies of a text; some ways of scaling choose them by its length.

    A *regime* is a range of lengths with the same frequencies. Where a text grows or shrinks into
    another one, keys that were turned before are no longer right.
    """

    def regime(self, length: int) -> int:
        """Name the regime of texts of a length."""

    def at(self, regime: int) -> tuple[float, ...]:
        """The frequencies in a regime, one a pair that turns."""


@dataclass(frozen=True)
class Fixed:
    """The same frequencies for every text."""

    values: tuple[float, ...]

    def regime(self, length: int) -> int:
        """There is one."""
        return 0

    def at(self, regime: int) -> tuple[float, ...]:
        """The frequencies."""
        return self.values


@dataclass(frozen=True)
class LongRope:
    """Other frequencies for texts longer than the first training's (Ding et al., 2024).

    Attributes:
        short, long: the frequencies of the two.
        original: the longest text that is short.
    """

    short: tuple[float, ...]
    long: tuple[float, ...]
    original: int

    def regime(self, length: int) -> int:
        """0 for short texts, 1 for long ones."""
        return int(length > self.original)

    def at(self, regime: int) -> tuple[float, ...]:
        """The frequencies of short or of long texts."""
        return self.long if regime else self.short


@dataclass(frozen=True)
class DynamicNTK:
    """A base that grows with the text once it is longer than the training's.

    θ' = θ · (factor · length / original − (factor − 1))^(dims / (dims − 2)). Source:
    ``rope_type = "dynamic"`` of the reference implementation. Every length beyond is a regime of
    its own, so that each new position there means to compute all anew.
    """

    theta: float
    dims: int
    factor: float
    original: int

    def regime(self, length: int) -> int:
        """The text's length where it is beyond the training's."""
        return max(length, self.original)

    def at(self, regime: int) -> tuple[float, ...]:
        """The frequencies of texts of that length."""
        growth = self.factor * regime / self.original - (self.factor - 1)
        theta = self.theta * growth ** (self.dims / (self.dims - 2))
        return tuple(plain(theta, self.dims).tolist())


def plain(theta: float, dims: int, divisors: torch.Tensor | float = 1.0) -> torch.Tensor:
    """The plain frequencies, f[i] = θ^(−2i / dims), or these divided: float32, (dims / 2,)."""
    return 1.0 / (divisors * theta ** (torch.arange(0, dims, 2, dtype=torch.float32) / dims))


def linear(frequencies: torch.Tensor, factor: float) -> torch.Tensor:
    """Position interpolation (Chen et al., 2023): every position counts 1 / factor."""
    return frequencies / factor


def llama3(
    frequencies: torch.Tensor, factor: float, low: float, high: float, original: int
) -> torch.Tensor:
    """Llama 3.1's scaling: slow turns are stretched by factor, fast ones kept, blended between.

    A frequency counts as fast when its wavelength fits more than ``high`` times into the context
    that the model was first trained with, as slow when it fits less than ``low`` times.
    Source: ``rope_type = "llama3"`` of the reference implementation (meta-llama/llama-models).
    """
    turns = original * frequencies / (2 * math.pi)
    fast = ((turns - low) / (high - low)).clamp(0.0, 1.0)
    return (1 - fast) * frequencies / factor + fast * frequencies


def yarn(
    theta: float,
    dims: int,
    factor: float,
    original: int,
    *,
    fast: float = 32.0,
    slow: float = 1.0,
    whole_pairs: bool = True,
) -> torch.Tensor:
    """YaRN (Peng et al., 2023): as Llama 3.1's, but blended evenly over the pairs' numbers.

    Args:
        theta: the base.
        dims: features that turn.
        factor: by how much slow turns are stretched.
        original: the context that the model was first trained with.
        fast: how many turns within that context make a pair fast.
        slow: how many make it slow.
        whole_pairs: the blend begins and ends at whole pairs.

    Returns:
        float32, (dims / 2,).
    """

    def pair(turns: float) -> float:
        """Number of the pair that turns so often within the original context."""
        return dims * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(theta))

    first, last = pair(fast), pair(slow)
    if whole_pairs:
        first, last = math.floor(first), math.ceil(last)
    first, last = max(first, 0), min(last, dims - 1)
    if first == last:
        last += 0.001
    numbers = torch.arange(dims // 2, dtype=torch.float32)
    slowness = ((numbers - first) / (last - first)).clamp(0.0, 1.0)
    frequencies = plain(theta, dims)
    return frequencies / factor * slowness + frequencies * (1 - slowness)


def yarn_magnitude(factor: float, weight: float = 1.0) -> float:
    """By how much YaRN makes turned features larger: 0.1 · weight · ln(factor) + 1."""
    return 0.1 * weight * math.log(factor) + 1.0 if factor > 1 else 1.0


def longrope_magnitude(factor: float, original: int) -> float:
    """By how much LongRoPE makes turned features larger: √(1 + ln(factor) / ln(original))."""
    return math.sqrt(1 + math.log(factor) / math.log(original)) if factor > 1 else 1.0


class RotaryTable:
    """The turns e^(i·p·f) of positions 0, 1, …: made as they are needed, kept from then on."""

    def __init__(
        self,
        frequencies: Frequencies,
        magnitude: float,
        *,
        pairs: int,
        limit: int,
        device: torch.device,
    ) -> None:
        """Start empty.

        Args:
            frequencies: of the pairs that turn.
            magnitude: what they are multiplied with.
            pairs: how many a head has; those without a frequency get a turn of 1.
            limit: the number of positions that are ever asked for.
            device: where the table lies.
        """
        self.frequencies = frequencies
        self._magnitude = magnitude
        self._limit = limit
        self._regime = 0
        self._turns = torch.empty(0, 1, pairs, dtype=torch.complex64, device=device)

    def turns(self, start: int, stop: int, regime: int) -> torch.Tensor:
        """The turns of positions [start, stop): complex64, (positions, 1, pairs)."""
        if stop > len(self._turns) or regime != self._regime:
            self._make(stop, regime)
        return self._turns[start:stop]

    def _make(self, needed: int, regime: int) -> None:
        size = min(self._limit, max(needed, 2 * len(self._turns), GROWTH))
        positions = torch.arange(size, dtype=torch.float32)
        frequencies = torch.tensor(self.frequencies.at(regime), dtype=torch.float32)
        # float32 angles, as in the reference implementation: models were trained with them
        angles = torch.outer(positions, frequencies)
        turns = torch.ones(size, self._turns.shape[-1], dtype=torch.complex64)
        turning = torch.complex(angles.cos(), angles.sin()) * self._magnitude
        turns[:, : len(frequencies)] = turning
        self._turns = turns[:, None].to(self._turns.device)
        self._regime = regime


def pairs_of(heads: torch.Tensor) -> torch.Tensor:
    """The pairs of features of each head, as a view.

    The features of a pair lie side by side, so that a pair is one complex number: a turn of one
    position takes 2 µs where its views are kept and 6 where they are made, splitting a head into
    halves and stacking them 21.

    Args:
        heads: (positions, heads, 2 · pairs); may be a view.

    Returns:
        complex64, (positions, heads, pairs), of float32; of other dtypes, whose complex numbers
        torch lacks or can't multiply, these as they are, (positions, heads, pairs, 2).
    """
    pairs = heads.view(*heads.shape[:-1], -1, 2)
    return torch.view_as_complex(pairs) if heads.dtype == torch.float32 else pairs


def turn_(pairs: torch.Tensor, turns: torch.Tensor) -> None:
    """Turn pairs in place.

    Args:
        pairs: as :func:`pairs_of` gives them.
        turns: complex64, (positions, 1, pairs).
    """
    if pairs.is_complex():
        pairs.mul_(turns)
    else:  # in float32, where there are complex numbers to multiply
        pairs.copy_(torch.view_as_real(torch.view_as_complex(pairs.float()) * turns))


def interleaved(rows: torch.Tensor, heads: int, turning: int | None = None) -> torch.Tensor:
    """Reorder each head's rows from two halves (all first, all second features) to pairs.

    Query and key are reordered alike, so their products stay what they were.

    Args:
        rows: a weight (heads · dim, inputs) or bias (heads · dim,) of a query or key product, or
            the scale of their norm.
        heads: how many heads it makes.
        turning: how many of a head's first rows turn; the rest keep their order. All by default.
    """
    by_head = rows.view(heads, -1, *rows.shape[1:])
    turning = by_head.shape[1] if turning is None else turning
    halves = by_head[:, :turning].reshape(heads, 2, turning // 2, *rows.shape[1:])
    pairs = halves.transpose(1, 2).flatten(1, 2)
    return torch.cat([pairs, by_head[:, turning:]], dim=1).view(rows.shape)
