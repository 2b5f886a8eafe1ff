"""How the settings file's faults are told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tokenloop.errors import TokenloopError

if TYPE_CHECKING:
    from pathlib import Path


class SettingsFileError(TokenloopError):
    """The settings file says something that can't be honoured; names file and key."""

    def __init__(self, path: Path, key: str, allowed: str) -> None:
        super().__init__(f"{path}: {key}: {allowed}" if key else f"{path}: {allowed}")


def check_table(path: Path, key: str, value: Any) -> None:
    """Refuse what is no table.

    Raises:
        SettingsFileError: names file and key.
    """
    if not isinstance(value, dict):
        raise SettingsFileError(path, key, f"a table: [{key}]")
