"""Shades for cells that are too narrow for a bar: the more probable, the stronger the colour."""

from __future__ import annotations

from functools import lru_cache

from textual.color import Color

LEVELS = 8
STRONGEST = 0.52
"""How much of the colour the strongest shade has; text stays readable on it."""


@lru_cache(maxsize=256)
def _shade(colour: str, track: str, level: int) -> str:
    part = level / (LEVELS - 1) * STRONGEST
    return str(Color.parse(track).blend(Color.parse(colour), part, alpha=1.0).hex6)


def heat(p: float, colour: str, track: str) -> str:
    """The background of a cell that stands for probability ``p``.

    Eight shades, so that neighbours in probability look alike and few styles exist.

    Args:
        p: in [0, 1].
        colour: what the cell's meaning is (blue, amber), as ``#RRGGBB``.
        track: the colour of no probability.
    """
    return _shade(colour, track, min(LEVELS - 1, max(0, int(p * LEVELS))))
