"""The bottom line: keys and what they do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.strip import Strip

from tokenloop_widgets.drawing.cells import Line, width_of
from tokenloop_widgets.palette import Palette

GAP = 2


@dataclass(frozen=True)
class Key:
    """A key on the bottom line.

    Attributes:
        key: as printed (``space``, ``←``).
        word: what it does.
        action: the action that a click asks for.
        pinned: kept when others are left out (help, quit).
    """

    key: str
    word: str
    action: str = ""
    pinned: bool = False


def fitting(keys: Sequence[Key], width: int) -> list[tuple[int, Key]]:
    """(column, key) of those that fit: whole items, the pinned ones first, then in order."""
    room = width - 1

    def cost(key: Key) -> int:
        return width_of(f"{key.key} {key.word}") + GAP

    kept: set[int] = set()
    for wanted in (True, False):
        for index, key in enumerate(keys):
            if key.pinned is wanted:
                if cost(key) - GAP > room:
                    break
                kept.add(index)
                room -= cost(key)
    placed, column = [], 1
    for index, key in enumerate(keys):
        if index in kept:
            placed.append((column, key))
            column += cost(key)
    return placed


def keys_strip(keys: Sequence[Key], width: int, palette: Palette) -> Strip:
    """Draw the line: keys amber, words grey."""
    line = Line(width, palette.on(palette.soft))
    for column, key in fitting(keys, width):
        line.to(column).add(key.key, palette.on(palette.sampler, bold=True))
        line.skip(1).add(key.word, palette.on(palette.soft))
    return line.strip()
