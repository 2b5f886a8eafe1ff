"""A text as an editor can hold it, without losing a character.

An editor splits lines at more characters than the line feed and lets controls through to the
screen. Those are swapped for visible stand-ins that the text does not use, and swapped back.
"""

from __future__ import annotations

import re

from tokenloop.app.safety import UNSAFE

# What str.splitlines splits at, beyond the line feed, is all in UNSAFE; tabs and line feeds stay.
_KEPT = "\n\t"
_PRIVATE_USE = range(0xE000, 0xF8FF)


class Editable:
    """A text with its unprintable characters swapped for stand-ins.

    Attributes:
        text: what the editor shows.
        swapped: how many different characters have a stand-in.
    """

    def __init__(self, original: str) -> None:
        found = sorted(set(UNSAFE.findall(original)) - set(_KEPT))
        used = set(original)
        self._stand_ins: dict[str, str] = {}
        for character in found:
            stand_in = _stand_in(character, used)
            used.add(stand_in)
            self._stand_ins[character] = stand_in
        self.text = _swap(original, self._stand_ins)

    @property
    def swapped(self) -> int:
        """How many different characters have a stand-in."""
        return len(self._stand_ins)

    def restore(self, edited: str) -> str:
        """The edited text with the stand-ins swapped back."""
        return _swap(edited, {new: old for old, new in self._stand_ins.items()})


def _stand_in(character: str, used: set[str]) -> str:
    code = ord(character)
    picture = chr(0x2400 + code) if code < 0x20 else "\u2421" if code == 0x7F else ""
    if picture and picture not in used:
        return picture
    return next(chr(code) for code in _PRIVATE_USE if chr(code) not in used)


def _swap(text: str, table: dict[str, str]) -> str:
    if not table:
        return text
    pattern = re.compile("[" + re.escape("".join(table)) + "]")
    return pattern.sub(lambda found: table[found[0]], text)
