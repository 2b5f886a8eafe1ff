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

    A field that is absent or ``null`` takes its default; without a default it is required.
    """

    def __init__(self, where: str, content: Mapping[str, Any], prefix: str = "") -> None:
        """Read from a mapping.

        Args:
            where: the file, for errors.
            content: the settings.
            prefix: put before each name, as in ``llama.block_count``.
        """
        self._where = where
        self._content = content
        self._prefix = prefix

    @classmethod
    def of(cls, checkpoint: Checkpoint) -> Fields:
        """The settings of a checkpoint; those of a GGUF under its architecture's prefix."""
        gguf = checkpoint.format == "gguf"
        prefix = f"{checkpoint.architecture}." if gguf else ""
        return cls(settings_file(checkpoint), checkpoint.config, prefix)

    def inside(self, name: str) -> Fields:
        """The settings inside a field (none where it is absent)."""
        value = self._content.get(self._prefix + name)
        if value is None:
            value = {}
        if not isinstance(value, dict):
            raise self.refused(name, "must hold fields of its own, or null")
        return Fields(f"{self._where}: {self._prefix}{name}", value)

    def names(self) -> list[str]:
        """The names of the fields that are there, without the prefix, in the file's order."""
        return [
            name.removeprefix(self._prefix)
            for name, value in self._content.items()
            if value is not None and name.startswith(self._prefix)
        ]

    def get(self, name: str) -> Any:
        """A field as it stands, ``None`` where it is absent."""
        return self._content.get(self._prefix + name)

    def whole(
        self, name: str, default: int | None = None, *, low: int = 1, high: int = LARGEST
    ) -> int:
        """A whole number in [low, high]."""
        value = self._value(name, default)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self.refused(name, f"must be a whole number from {low:,} to {high:,}")
        return value

    def number(
        self, name: str, default: float | None = None, *, low: float = 0.0, high: float = 1e30
    ) -> float:
        """A number in [low, high]."""
        value = self._value(name, default)
        number = isinstance(value, int | float) and not isinstance(value, bool)
        if not (number and low <= value <= high):  # NaN fails
            raise self.refused(name, f"must be a number from {low:g} to {high:g}")
        return float(value)

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

    def refused(self, name: str, allowed: str) -> ModelError:
        """Make the error for a field."""
        value = self.get(name)
        there = "is missing and" if value is None else f"= {_json(value)}"
        return ModelError(f"{self._where}: {quoted(self._prefix + name)[1:-1]} {there} {allowed}")

    def _value(self, name: str, default: object) -> Any:
        value = self.get(name)
        return default if value is None else value


def settings_file(checkpoint: Checkpoint) -> str:
    """The file that a checkpoint's settings stand in, for errors."""
    if checkpoint.format == "gguf":
        return shown(checkpoint.path)
    folder = checkpoint.path if checkpoint.path.is_dir() else checkpoint.path.parent
    return shown(folder / "config.json")


def _json(value: object) -> str:
    words = {True: "true", False: "false", None: "null"}
    return words[value] if value is None or isinstance(value, bool) else quoted(value)
