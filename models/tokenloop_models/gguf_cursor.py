"""A place in the header of a GGUF file that only moves within what the file holds."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any, BinaryIO

from tokenloop_models.errors import ModelError, quoted
from tokenloop_models.file_kinds import shown

if TYPE_CHECKING:
    from pathlib import Path

MIB = 1 << 20
CHUNK = 4 * MIB
MAX_HEADER_BYTES = 256 * MIB  # a vocabulary of 262,144 with its merges takes about 20 MiB
MAX_ENTRIES = 16 * MIB  # of all arrays together


class Cursor:
    """Reads a header piece by piece, little endian; never more of it than the pieces need.

    Attributes:
        path: the file, for errors.
        size: of the file, in bytes.
        position: of the next piece.
        entries_left: how many more the arrays may have.
    """

    def __init__(self, path: Path, file: BinaryIO, size: int) -> None:
        self.path = path
        self.file = file
        self.size = size
        self.data = b""
        self.position = 0
        self.entries_left = MAX_ENTRIES

    def error(self, what: str, problem: str) -> ModelError:
        """Make the one line that says what is wrong with a field."""
        return ModelError(f"{shown(self.path)}: {what}: {problem}")

    def need(self, count: int, what: str) -> None:
        """Make sure that ``count`` bytes after the position are in memory."""
        end = self.position + count
        if end <= len(self.data):
            return
        if end > self.size:
            problem = f"needs {count:,} bytes at {self.position:,}, the file has {self.size:,}"
            raise self.error(what, f"{problem}: cut short, or a wrong length")
        if end > MAX_HEADER_BYTES:
            problem = f"ends at {end:,} bytes; a header may take {MAX_HEADER_BYTES:,}"
            raise self.error(what, problem)
        self.data += self.file.read(max(end - len(self.data), len(self.data), CHUNK))
        if end > len(self.data):
            raise self.error(what, "the file became shorter while it was read")

    def take(self, count: int, what: str) -> bytes:
        """Read bytes."""
        self.need(count, what)
        start, self.position = self.position, self.position + count
        return self.data[start : self.position]

    def number(self, code: str, what: str, *, most: int | None = None) -> Any:
        """Read one number of a :mod:`struct` format."""
        (value,) = struct.unpack(f"<{code}", self.take(struct.calcsize(f"<{code}"), what))
        if most is not None and value > most:
            raise self.error(what, f"{value:,}; at most {most:,} are allowed")
        return value

    def text(self, what: str, *, most: int | None = None) -> str:
        """Read a string of at most so many bytes."""
        raw = self.take(self.number("Q", f"length of {what}", most=most), what)
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            raise self.error(what, f"is not UTF-8: {quoted(raw[:32])}") from None

    def texts(self, count: int, what: str) -> list[str]:
        """Read ``count`` strings: the hot loop, as a vocabulary and its merges are 100,000."""
        length_at = struct.Struct("<Q").unpack_from
        data, position = self.data, self.position
        texts: list[str] = []
        try:
            while len(texts) < count:
                start = position + 8
                if start <= len(data):
                    end = start + length_at(data, position)[0]
                    if end <= len(data):
                        texts.append(data[start:end].decode("utf-8"))
                        position = end
                        continue
                self.position = position
                self.need(8, what)
                self.need(8 + length_at(self.data, position)[0], what)
                data = self.data
        except UnicodeDecodeError as error:
            entry = f"{what}[{len(texts)}]"
            raise self.error(entry, f"is not UTF-8: {quoted(error.object[:32])}") from None
        self.position = position
        return texts
