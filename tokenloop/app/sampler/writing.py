"""Settings as text: how those that are no plain numbers are written and read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tokenloop.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Mapping

MARKS = {"\\n": "\n", "\\t": "\t", "\\s": " ", "\\\\": "\\"}
"""Stand-ins for what can't be typed between blanks."""


def read_number(name: str) -> Callable[[str], object]:
    """A reader of numbers."""

    def read(text: str) -> object:
        try:
            return float(text.strip().replace(",", "."))
        except ValueError:
            raise SettingError(name, text, "a number") from None

    return read


def read_whole(name: str) -> Callable[[str], object]:
    """A reader of whole numbers."""

    def read(text: str) -> object:
        try:
            return int(text.strip().replace(",", "").replace("_", ""))
        except ValueError:
            raise SettingError(name, text, "a whole number") from None

    return read


def read_order(text: str) -> object:
    """The tradition; llama.cpp may be written as it is called."""
    return text.strip().lower().replace("llama.cpp", "llamacpp")


def read_window(text: str) -> object:
    """A number of tokens, ``all`` or ``auto``."""
    word = text.strip().lower()
    if word in ("", "auto"):
        return None
    if word == "all":
        return -1
    try:
        return int(word)
    except ValueError:
        raise SettingError("repeat_last_n", text, "a whole number, all, or auto") from None


def write_window(value: object) -> str:
    """The same back."""
    return "auto" if value is None else "all" if value == -1 else str(value)


def read_yes(text: str) -> object:
    """Yes or no."""
    word = text.strip().lower()
    if word in ("yes", "y", "true", "1"):
        return True
    if word in ("no", "n", "false", "0"):
        return False
    raise SettingError("penalize_prompt", text, "yes or no")


def write_yes(value: object) -> str:
    """The same back."""
    return "yes" if value else "no"


def read_breakers(text: str) -> object:
    """Texts between blanks; line breaks, tabs and blanks are written as in :data:`MARKS`."""
    return tuple(_unmarked(part) for part in text.split())


def _unmarked(part: str) -> str:
    read, at = "", 0
    while at < len(part):
        mark = part[at : at + 2]
        read += MARKS.get(mark, part[at])
        at += 2 if mark in MARKS else 1
    return read


def write_breakers(value: object) -> str:
    """The same back."""
    assert isinstance(value, tuple)  # by the field's name
    marks = {character: mark for mark, character in MARKS.items()}
    return " ".join(
        "".join(marks.get(character, character) for character in part) for part in value
    )


def read_biases(text: str) -> object:
    """``id=number …``."""
    biases: dict[int, float] = {}
    for part in text.replace(",", " ").split():
        token_id, _, bias = part.partition("=")
        try:
            biases[int(token_id)] = float(bias)
        except ValueError:
            raise SettingError(
                "logit_bias", part, "id=number, such as 16570=-2 or 260=-inf"
            ) from None
    return biases


def write_biases(value: object) -> str:
    """The same back."""
    assert isinstance(value, dict)  # by the field's name
    biases: Mapping[int, float] = value
    return " ".join(f"{token_id}={bias:g}" for token_id, bias in biases.items())


def read_words(text: str) -> object:
    """``1,2;3``: sequences of token ids."""
    try:
        sequences = [part.replace(",", " ").split() for part in text.split(";")]
        return tuple(tuple(int(token_id) for token_id in part) for part in sequences if part)
    except ValueError:
        raise SettingError("bad_words", text, "token ids, such as 260,314;504") from None


def write_words(value: object) -> str:
    """The same back."""
    assert isinstance(value, tuple)  # by the field's name
    return ";".join(",".join(map(str, word)) for word in value)
