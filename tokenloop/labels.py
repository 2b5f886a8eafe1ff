"""How a token is printed: every byte visible, and nothing that could drive a terminal.

This is the boundary of promise 7: text of a model, a file or a path becomes a label here, and only
labels reach the screen.
"""

from __future__ import annotations

import re
import unicodedata

_NAMED = {" ": "␣", "\n": "⏎", "\t": "⇥", "\r": "␍", "\x7f": "␡"}

# Categories that show nothing, reorder or join their neighbours, or have no glyph in any font.
_INVISIBLE = {"Cc", "Cf", "Cn", "Co", "Cs", "Zl", "Zp", "Zs"}

_COMBINING = {"Mn", "Mc", "Me"}

_MEANT = {sign: character for character, sign in _NAMED.items()}
_MEANT |= {chr(0x2400 + code): chr(code) for code in range(0x20) if chr(code) not in _NAMED}

_SIGNS = re.compile(
    r"⟨([0-9A-F]{2}(?:·[0-9A-F]{2})*)⟩|⟨U\+((?:10|[0-9A-F])?[0-9A-F]{4})⟩|◌?(.)", re.DOTALL
)


def label(raw: bytes) -> str:
    """Print the bytes of one token.

    Whitespace shows as ``␣ ⏎ ⇥``, other C0 controls as their pictures, bytes that are no complete
    character as ``⟨E6·97⟩``, format characters and the like by code point (``⟨U+202E⟩``).

    Args:
        raw: the token's bytes, complete UTF-8 or not.

    Returns:
        Printable text, one cell run; empty only for no bytes.
    """
    shown: list[str] = []
    for part in _split_valid(raw):
        if isinstance(part, bytes):
            shown.append(f"⟨{'·'.join(f'{byte:02X}' for byte in part)}⟩")
        else:
            shown.append(visible(part))
    return "".join(shown)


def unlabelled(text: str) -> bytes:
    """What a label stands for: the bytes that :func:`label` shows so.

    A character that is no sign of a label stands for itself.
    """
    return b"".join(
        bytes.fromhex(hexadecimal.replace("·", ""))
        if hexadecimal
        else (chr(int(code, 16)) if code else _MEANT.get(sign, sign)).encode(errors="replace")
        for hexadecimal, code, sign in _SIGNS.findall(text)
    )


def visible(text: str) -> str:
    """Make every character of ``text`` visible and harmless (a path, a name, an error's text)."""
    return "".join(_visible(character, index) for index, character in enumerate(text))


def clean(text: str) -> str:
    """Like :func:`visible`, but plain spaces stay: for titles and messages."""
    return visible(text).replace("␣", " ")


def _visible(character: str, index: int) -> str:
    if character.isascii() and character.isprintable() and character != " ":
        return character
    if character in _NAMED:
        return _NAMED[character]
    if character < " ":
        return chr(0x2400 + ord(character))
    category = unicodedata.category(character)
    if category in _INVISIBLE or _changes_width(character):
        return f"⟨U+{ord(character):04X}⟩"
    if category in _COMBINING and index == 0:
        return "◌" + character
    return character


def _changes_width(character: str) -> bool:
    """Variation selectors and conjoining jamo change the width of what stands before them."""
    code = ord(character)
    return 0xFE00 <= code <= 0xFE0F or 0xE0100 <= code <= 0xE01EF or 0x1160 <= code <= 0x11FF


def _split_valid(raw: bytes) -> list[str | bytes]:
    """Split into runs of complete UTF-8 characters and runs of bytes that are none."""
    parts: list[str | bytes] = []
    while raw:
        try:
            parts.append(raw.decode())
            break
        except UnicodeDecodeError as error:
            if error.start:
                parts.append(raw[: error.start].decode())
            broken = raw[error.start : error.end]
            if parts and isinstance(parts[-1], bytes):
                parts[-1] += broken
            else:
                parts.append(broken)
            raw = raw[error.end :]
    return parts
