"""Reading a file's settings strictly: a field is of its kind and in its range, or it is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tokenloop_models.errors import ModelError, quoted
from tokenloop_models.file_kinds import shown

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tokenloop_models.checkpoint import Checkpoint

LARGEST = 2**31 - 1


class Fields:
    """The settings in a ``config.json`` or in the metadata of a GGUF.

    A field that is absent takes its default; without one, and where it is ``null``, it takes the
    default of the question, or is required.
    """

    def __init__(
        self,
        where: str,
        content: Mapping[str, Any],
        prefix: str = "",
        spelling: Mapping[str, str] | None = None,
        defaults: Mapping[str, Any] | None = None,
    ) -> None:
        """Read from a mapping.

        Args:
            where: the file, for errors.
            content: the settings.
            prefix: put before each name, as in ``llama.block_count``.
            spelling: what the file calls a field: the name asked for → the file's, where it has
                another one.
            defaults: what fields are where the file doesn't have them, by the names asked for.
        """
        self._where = where
        self._content = content
        self._prefix = prefix
        self._spelling = spelling or {}
        self._defaults = defaults or {}
        self._asked: set[str] = set()

    @property
    def content(self) -> Mapping[str, Any]:
        """All of them, as they stand in the file."""
        return self._content

    def inside(self, name: str) -> Fields:
        """The settings inside a field (none where it is absent)."""
        value = self.get(name)
        if value is None:
            value = {}
        if not isinstance(value, dict):
            raise self.refused(name, "must hold fields of its own, or null")
        return Fields(f"{self._where}: {quoted(self._key(name))[1:-1]}", value)

    def unasked(self) -> list[str]:
        """The file's fields that nobody has asked for so far, without the prefix."""
        return [
            name.removeprefix(self._prefix)
            for name, value in self._content.items()
            if value is not None and name.startswith(self._prefix) and name not in self._asked
        ]

    def get(self, name: str) -> Any:
        """A field as it stands, or its default; ``None`` where it is ``null`` or there is none."""
        key = self._key(name)
        self._asked.add(key)
        return self._content[key] if key in self._content else self._defaults.get(name)

    def states(self, name: str) -> bool:
        """Whether the file has a field, and not as ``null``."""
        return self._content.get(self._key(name)) is not None

    def whole(
        self, name: str, default: int | None = None, *, low: int = 1, high: int = LARGEST
    ) -> int:
        """A whole number in [low, high]."""
        value = self._value(name, default)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self.refused(name, f"must be a whole number from {low:,} to {high:,}")
        return value

    def maybe_whole(self, name: str, *, low: int = 1, high: int = LARGEST) -> int | None:
        """A whole number in [low, high], or ``None`` where the field is absent."""
        return None if self.get(name) is None else self.whole(name, low=low, high=high)

    def number(
        self, name: str, default: float | None = None, *, low: float = 0.0, high: float = 1e30
    ) -> float:
        """A number in [low, high]."""
        value = self._value(name, default)
        if not (_is_number(value) and low <= value <= high):  # NaN fails
            raise self.refused(name, f"must be a number from {low:g} to {high:g}")
        return float(value)

    def maybe_number(self, name: str, *, low: float = 0.0, high: float = 1e30) -> float | None:
        """A number in [low, high], or ``None`` where the field is absent."""
        return None if self.get(name) is None else self.number(name, low=low, high=high)

    def flag(self, name: str, default: bool | None = None) -> bool:
        """True or false."""
        value = self._value(name, default)
        if not isinstance(value, bool):
            raise self.refused(name, "must be true or false")
        return value

    def choice(self, name: str, allowed: Iterable[str], default: str | None = None) -> str:
        """One of some words."""
        value = self._value(name, default)
        words = list(allowed)
        if not isinstance(value, str) or value not in words:
            raise self.refused(name, f"is not known here; known: {', '.join(words)}")
        return value

    def neutral(self, name: str, *values: object) -> None:
        """Accept a field only where it changes nothing: absent, null, or one of these values."""
        there = self.get(name)
        same = (there == value and type(there) is type(value) for value in values)
        if there is not None and not any(same):
            allowed = " or ".join(map(_json, values)) or "null"
            raise self.refused(name, f"is not supported; only {allowed} is")

    def words(self, name: str, allowed: Iterable[str], count: int) -> list[str] | None:
        """So many of some words, ``None`` where the field is absent."""
        value = self.get(name)
        if value is None:
            return None
        known = list(allowed)
        if not isinstance(value, list) or len(value) != count or not all(v in known for v in value):
            raise self.refused(name, f"must be a list of {count:,}, each {' or '.join(known)}")
        return value

    def numbers(self, name: str, count: int, *, low: float = 0.0) -> tuple[float, ...]:
        """So many numbers, none below ``low``."""
        value = self.get(name)
        good = isinstance(value, list) and len(value) == count
        if not good or not all(_is_number(each) and low <= each <= 1e30 for each in value):
            raise self.refused(name, f"must be a list of {count:,} numbers from {low:g} to 1e+30")
        return tuple(map(float, value))

    def refused(self, name: str, allowed: str) -> ModelError:
        """Make the error for a field."""
        value = self.get(name)
        there = "is missing and" if value is None else f"= {_json(value)}"
        return ModelError(f"{self._where}: {quoted(self._key(name))[1:-1]} {there} {allowed}")

    def _key(self, name: str) -> str:
        return self._prefix + self._spelling.get(name, name)

    def _value(self, name: str, default: object) -> Any:
        value = self.get(name)
        return default if value is None else value


def settings_file(checkpoint: Checkpoint) -> str:
    """The file that a checkpoint's settings stand in, for errors."""
    if checkpoint.format == "gguf":
        return shown(checkpoint.path)
    folder = checkpoint.path if checkpoint.path.is_dir() else checkpoint.path.parent
    return shown(folder / "config.json")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _json(value: object) -> str:
    words = {True: "true", False: "false", None: "null"}
    return words[value] if value is None or isinstance(value, bool) else quoted(value)
