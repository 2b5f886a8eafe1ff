"""The new positions of a pass, and what all layers need to know of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import torch

Where = slice | torch.Tensor


class Store(Protocol):
    """Where attention puts keys and values of new positions, and finds those of all others."""

    def write(self, layer: int, new: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Put a layer's (K and V, kv_heads, positions, head_dim) to those of the span.

        Returns:
            Keys and values to look at, each (kv_heads, positions, head_dim).
        """


@dataclass(frozen=True, slots=True)
class Sight:
    """Which positions the new ones may see.

    Attributes:
        first: none sees any before it.
        mask: which of the positions from ``first`` on each may see, bool, (new, stop − first);
            ``None`` where that follows from the shape: a single position sees all of them, a span
            from 0 is a plain triangle. One in the weights' dtype is added to scores instead, 0 or
            −∞.
    """

    first: int
    mask: torch.Tensor | None


@dataclass(frozen=True, slots=True)
class Span:
    """The new positions of a pass.

    Attributes:
        where: the positions, to index with: a slice, or in a static step int64, (positions,).
        turns: their rotary turns in each table of the decoder, complex64, (positions, 1, pairs).
        sights: what they see in each window of the decoder.
        last_alone: what comes out of a layer is asked for of the last position only; of the others
            its keys and values are enough. So it is in the last layer where nobody scores them.
    """

    where: Where
    turns: tuple[torch.Tensor, ...]
    sights: tuple[Sight, ...]
    last_alone: bool = False

    def asked(self, rows: torch.Tensor) -> torch.Tensor:
        """The rows, one a position, of the positions asked for."""
        return rows[-1:] if self.last_alone else rows


def sight_in_window(
    columns: torch.Tensor,
    position: torch.Tensor,
    window: int | None,
    dtype: torch.dtype | None,
) -> Sight:
    """What one position sees, told by a mask over a fixed number of positions.

    Neither shapes nor the host know the position: it may change from one replay to the next.

    Args:
        columns: 0, 1, … of the positions looked at, int64, (positions,).
        position: int64, (1,).
        window: as in :func:`sight`.
        dtype: of a mask that is added to scores; ``None``: of true and false.
    """
    seen = columns <= position
    if window is not None:
        seen = seen & (columns > position - window)
    if dtype is None:
        return Sight(0, seen[None])
    added = torch.zeros(1, len(columns), dtype=dtype, device=columns.device)
    return Sight(0, added.masked_fill_(~seen, float("-inf")))


def sight(
    start: int, stop: int, window: int | None, device: torch.device, *, always_mask: bool = False
) -> Sight:
    """What the positions [start, stop) see.

    Keys and values of positions that left the window stay in the cache, so that a rewind can bring
    them back: a window only narrows what is looked at.

    Args:
        start: the first of them.
        stop: the first after them.
        window: how many positions back each sees, itself included; ``None``: all.
        device: where a mask is needed.
        always_mask: give several positions a mask even where it is a plain triangle.
    """
    first = 0 if window is None else max(0, start - window + 1)
    if stop - start == 1:
        return Sight(first, None)
    narrowed = window is not None and stop > window
    if start == 0 and not narrowed and not always_mask:
        return Sight(0, None)
    seen = torch.ones(stop - start, stop - first, dtype=torch.bool, device=device)
    seen = seen.tril(diagonal=start - first)
    if window is not None:
        seen = seen.triu(diagonal=start - first - window + 1)
    return Sight(first, seen)
