"""How a vocabulary spells bytes: two traditions.

**Byte level** (GPT-2 and all that follow it): each byte has one printable character, so that any
text is a string over 256 letters. A byte that prints in Latin-1 is its own letter; the other 68
take the letters from U+0100 on, in order: space is ``Ġ``, newline ``Ċ``.

**SentencePiece**: a token is text, with ``▁`` (U+2581) for a space; bytes that no token covers are
tokens of their own, spelled ``<0x0A>``.
"""

from __future__ import annotations

import re

SPACE_MARK = "▁"
_BYTE_TOKEN = re.compile(r"<0x([0-9A-Fa-f]{2})>\Z")


def _byte_letters() -> dict[str, int]:
    own = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in own]
    letters = {chr(byte): byte for byte in own}
    letters.update({chr(0x100 + n): byte for n, byte in enumerate(others)})
    return letters


BYTE_OF_LETTER = _byte_letters()


def byte_level(token: str) -> bytes:
    """Return the bytes of a byte-level token (``Ġthe`` is `` the``).

    A token with a letter outside the alphabet was added as text and stands for itself.
    """
    try:
        return bytes([BYTE_OF_LETTER[letter] for letter in token])
    except KeyError:
        return literal(token)


def sentencepiece(token: str) -> bytes:
    """Return the bytes of a SentencePiece token (``▁the`` is `` the``, ``<0x0A>`` a newline)."""
    byte = _BYTE_TOKEN.match(token)
    if byte:
        return bytes.fromhex(byte[1])
    return literal(token.replace(SPACE_MARK, " "))


def literal(token: str) -> bytes:
    """Return the bytes of a token that is text as it stands."""
    return token.encode("utf-8")
