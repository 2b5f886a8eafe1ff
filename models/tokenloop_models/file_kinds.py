"""Opening a file that someone was given: only a regular one, and called by its right name."""

from __future__ import annotations

import stat
from typing import TYPE_CHECKING

from tokenloop_models.errors import ModelError, quoted

if TYPE_CHECKING:
    from pathlib import Path

GGUF_MAGIC = b"GGUF"

KINDS: tuple[tuple[bytes, str], ...] = (
    (GGUF_MAGIC, "a GGUF file"),
    (b"FUGG", "a GGUF file in big-endian order"),
    (b"version https://git-lfs", "a git-lfs pointer, not the file itself: run `git lfs pull`"),
    (b"PK\x03\x04", "a zip archive (PyTorch's pickle format looks like this)"),
    (b"\x80\x02", "a Python pickle"),
    (b"\x80\x03", "a Python pickle"),
    (b"\x80\x04", "a Python pickle"),
    (b"\x80\x05", "a Python pickle"),
    (b"ggml", "a GGML file from before GGUF"),
    (b"lmgg", "a GGML file from before GGUF"),
    (b"tjgg", "a GGJT file from before GGUF"),
    (b"fmgg", "a GGMF file from before GGUF"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"\x89HDF", "an HDF5 file"),
    (b"<!DOCTYPE", "a web page, not a model"),
    (b"<!doctype", "a web page, not a model"),
    (b"<html", "a web page, not a model"),
)
"""How files begin that are found under a model's name, and what to call them."""


def what_it_is(head: bytes) -> str | None:
    """Name the kind of file that starts with these bytes, or ``None`` where it isn't known."""
    if not head:
        return "empty"
    return next((name for magic, name in KINDS if head.startswith(magic)), None)


def file_size(path: Path) -> int:
    """Return the size in bytes of a regular file.

    Raises:
        ModelError: it is missing, may not be read, or is no regular file (opening a pipe or a
            device could wait for ever).
    """
    try:
        state = path.stat()
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None
    if not stat.S_ISREG(state.st_mode):
        kind = "a folder" if stat.S_ISDIR(state.st_mode) else "not a regular file"
        raise ModelError(f"{shown(path)}: is {kind}; a model's file is needed")
    return state.st_size


def read_small(path: Path, limit: int) -> bytes:
    """Read a whole file of at most ``limit`` bytes.

    Raises:
        ModelError: it can't be read, or is larger.
    """
    size = file_size(path)
    if size > limit:
        raise ModelError(f"{shown(path)}: {size:,} bytes; at most {limit:,} are allowed")
    try:
        with path.open("rb") as file:
            return file.read(limit)
    except OSError as error:
        raise unreadable(path, error) from None


def unreadable(path: Path, error: Exception) -> ModelError:
    """Make the one line that says why a file can't be read."""
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return ModelError(f"{shown(path)}: can't be read: {reason.lower()}")


def shown(path: Path) -> str:
    """Return a path as it may stand in an error: control characters escaped, never quoted."""
    return quoted(str(path), limit=4096)[1:-1]
