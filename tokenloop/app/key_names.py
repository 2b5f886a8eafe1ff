"""Which names keys have: those that Textual gives them when they are pressed.

A key is its character (``a``, ``?``) or its name (``space``, ``question_mark``, ``f5``), with
modifiers in front (``ctrl+t``, ``shift+left``). What no key press ever sends has no name here.
"""

from __future__ import annotations

import functools
import unicodedata

MODIFIERS = frozenset({"alt", "ctrl", "hyper", "meta", "shift", "super"})
NEVER_SENT = frozenset({"return"})  # the key sends "enter"


def key_name(text: str) -> str | None:
    """The one name under which a key press arrives, or ``None`` where there is no such key.

    Args:
        text: as a person writes it; ``shift+ctrl+left`` and ``ctrl+shift+left`` are one key.
    """
    if len(text) == 1:
        return _name_of(text)
    *modifiers, base = text.split("+")
    if len(set(modifiers)) < len(modifiers) or not MODIFIERS.issuperset(modifiers):
        return None
    name = base if base in _named_keys() else _name_of(_character(base))
    if name is None or (len(base) > 1 and name != base):
        return None
    prints = name not in _named_keys()
    if prints and ("shift" in modifiers or (modifiers and name != name.lower())):
        return None  # shift and a letter arrive as the capital, ctrl and a capital as the letter
    return "+".join([*sorted(modifiers), name])


def _name_of(character: str) -> str | None:
    """A printable character's name: letters and digits are their own."""
    from textual.keys import KEY_NAME_REPLACEMENTS

    if len(character) != 1 or not character.isprintable():
        return None
    if character.isalnum():
        return character
    name = unicodedata.name(character, "").lower().replace("-", "_").replace(" ", "_")
    return KEY_NAME_REPLACEMENTS.get(name, name) or None


def _character(name: str) -> str:
    """The character of a name; nothing where it has none."""
    from textual.keys import REPLACED_KEYS, key_to_character

    return key_to_character(REPLACED_KEYS.get(name, name)) or ""


@functools.cache
def _named_keys() -> frozenset[str]:
    """Keys that print nothing, without modifiers; and space, which has a name of its own."""
    from textual.keys import Keys

    names = (key.value for key in Keys)
    return frozenset(n for n in names if n.isalnum() and len(n) > 1) - NEVER_SENT
