"""Reading strips back: their text, and that they are exactly what was asked for."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from rich.cells import cell_len
from textual.strip import Strip


def lines(strips: Sequence[Strip]) -> list[str]:
    return [strip.text for strip in strips]


def check(strips: Sequence[Strip], width: int, height: int) -> None:
    """Exactly ``height`` lines of ``width`` cells, measured joined, and nothing but text."""
    assert len(strips) == height
    for strip in strips:
        assert strip.cell_length == width
        assert cell_len(strip.text) == width
        assert sum(cell_len(segment.text) for segment in strip) == width
        for character in strip.text:
            assert unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp"), repr(character)
            assert character not in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
