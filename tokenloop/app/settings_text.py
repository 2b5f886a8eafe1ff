"""Reads a file of the person's that should be a small text."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 1 << 20


class NoTextError(ValueError):
    """Why a file is no text of a sensible size, in a few words."""


def small_text(path: Path) -> str:
    """What a file holds. A pipe or a device is not opened: that could wait for ever.

    Raises:
        NoTextError: it is no regular file, too large, or not UTF-8.
        OSError: it can't be read.
    """
    state = path.stat()
    if not stat.S_ISREG(state.st_mode):
        kind = "a directory" if stat.S_ISDIR(state.st_mode) else "not a regular file"
        raise NoTextError(f"is {kind}")
    if state.st_size > MOST_BYTES:
        raise NoTextError(f"{state.st_size:,} bytes; at most {MOST_BYTES:,} are allowed")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise NoTextError(f"is not UTF-8 at byte {error.start:,}") from None
