"""The header of a GGUF file: its metadata, and where its tensors lie.

Layout of the published format, little endian throughout::

    magic "GGUF" | version u32 | tensor count u64 | metadata count u64
    metadata:  key string | value type u32 | value
    tensors:   name string | dimensions u32 | each u64, innermost first | type u32 | offset u64
    padding to ``general.alignment``, then the tensors' data, from which the offsets count

A string is a u64 length and UTF-8 bytes; an array is an element type, a u64 length, the elements.
A file may come from anywhere, so every number in it is checked against what the file can hold
before anything is sized by it. Neither torch nor numpy is needed to read a header.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from tokenloop_models.errors import ModelError, quoted
from tokenloop_models.file_kinds import file_size, shown, unreadable, what_it_is
from tokenloop_models.gguf_cursor import Cursor
from tokenloop_models.gguf_types import FILE_TYPES, PLAIN_FLOATS, TYPES, TensorType

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

MAX_KEYS = 65_536
MAX_TENSORS = 262_144
MAX_NAME_BYTES = 65_535  # of a key, by the format
MAX_DIMENSIONS = 4
DEFAULT_ALIGNMENT = 32

SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 10: "Q", 11: "q", 12: "d"}
BOOL, STRING, ARRAY = 7, 8, 9
UNSIGNED_32 = 4


@dataclass(frozen=True, slots=True)
class TensorInfo:
    """One tensor of the file.

    Attributes:
        name: the file's own name for it.
        shape: in torch's order, rows first (the file stores the innermost dimension first).
        type: how its values are stored.
        offset: of its first byte from the start of the file.
        nbytes: what it takes in the file.
    """

    name: str
    shape: tuple[int, ...]
    type: TensorType
    offset: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class GgufHeader:
    """What a GGUF file says before its data.

    Attributes:
        path: the file.
        version: of the format, 2 or 3.
        metadata: every key with its value; arrays are lists.
        tensors: by name, in the file's order.
        nbytes: the header's length with its padding: where the data begins.
        file_bytes: the file's size.
    """

    path: Path
    version: int
    metadata: dict[str, Any]
    tensors: dict[str, TensorInfo]
    nbytes: int
    file_bytes: int

    @property
    def quantisation(self) -> str | None:
        """See :func:`quantisation`."""
        return quantisation(self.tensors.values(), self.metadata)


def main_type(tensors: Iterable[TensorInfo]) -> str:
    """Name the type that most values are stored in ("Q4_1", "F16")."""
    values: dict[str, int] = {}
    for tensor in tensors:
        values[tensor.type.name] = values.get(tensor.type.name, 0) + math.prod(tensor.shape)
    return max(values, key=lambda name: values[name], default="F32")


def quantisation(tensors: Iterable[TensorInfo], metadata: Mapping[str, Any]) -> str | None:
    """Name the type that most of the weights are stored in, ``None`` where it is a plain float.

    Where ``general.file_type`` names a recipe built on that type, the recipe ("Q4_K_M").
    """
    main = main_type(tensors)
    if main in PLAIN_FLOATS:
        return None
    code = metadata.get("general.file_type")
    recipe = FILE_TYPES.get(code, main) if isinstance(code, int) else main
    return recipe if recipe.startswith(main) else main


def read_header(path: Path) -> GgufHeader:
    """Read and check the header of a GGUF file.

    Raises:
        ModelError: the file can't be read, is something else, is cut short, or says something
            that can't be so; the line names the file and the field.
    """
    size = file_size(path)
    try:
        with path.open("rb") as file:
            cursor = Cursor(path, file, size)
            version = _read_version(cursor)
            tensor_count = cursor.number("Q", "tensor count", most=MAX_TENSORS)
            key_count = cursor.number("Q", "metadata count", most=MAX_KEYS)
            metadata = _read_metadata(cursor, key_count)
            infos = [_read_tensor(cursor, index) for index in range(tensor_count)]
    except OSError as error:
        raise unreadable(path, error) from None
    alignment = _alignment(cursor, metadata)
    start = -(-cursor.position // alignment) * alignment
    tensors: dict[str, TensorInfo] = {}
    for info in infos:
        if info.name in tensors:
            raise cursor.error(f"tensor {quoted(info.name)}", "is there twice")
        tensors[info.name] = _place(cursor, info, start, alignment)
    _refuse_overlaps(cursor, tensors)
    return GgufHeader(path, version, metadata, tensors, start, size)


def _read_version(cursor: Cursor) -> int:
    magic = cursor.take(min(24, cursor.size), "magic")
    cursor.position = 4
    if magic[:4] != b"GGUF":
        kind = what_it_is(magic)
        problem = f"is {kind}" if kind else f"begins with {quoted(magic[:4])}"
        raise ModelError(f"{shown(cursor.path)}: {problem}; a GGUF file begins with 'GGUF'")
    version: int = cursor.number("I", "version")
    if version & 0xFFFF == 0 and version:
        problem = "is in big-endian byte order; only little-endian GGUF can be read"
        raise ModelError(f"{shown(cursor.path)}: {problem}")
    if version not in (2, 3):
        raise cursor.error("version", f"{version}; GGUF versions 2 and 3 can be read")
    return version


def _read_metadata(cursor: Cursor, count: int) -> dict[str, Any]:
    metadata: dict[str, Any] = {}
    for index in range(count):
        key = cursor.text(f"metadata key {index}", most=MAX_NAME_BYTES)
        what = quoted(key)[1:-1]
        if key in metadata:
            raise cursor.error(what, "is there twice")
        metadata[key] = _read_value(cursor, cursor.number("I", f"type of {what}"), what)
    return metadata


def _read_value(cursor: Cursor, kind: int, what: str) -> Any:
    if kind == STRING:
        return cursor.text(what)
    if kind == ARRAY:
        element = cursor.number("I", f"element type of {what}")
        return _read_array(cursor, element, cursor.number("Q", f"length of {what}"), what)
    return _read_array(cursor, kind, 1, what)[0]


def _read_array(cursor: Cursor, element: int, count: int, what: str) -> list[Any]:
    smallest = 8 if element == STRING else struct.calcsize(f"<{SCALARS.get(element, 'B')}")
    if element not in SCALARS and element not in (BOOL, STRING):
        problem = "an array of arrays" if element == ARRAY else f"value type {element}"
        raise cursor.error(what, f"{problem} is not known; numbers, booleans and strings are")
    if count > cursor.entries_left or cursor.position + count * smallest > cursor.size:
        left = min(cursor.entries_left, (cursor.size - cursor.position) // smallest)
        raise cursor.error(what, f"an array of {count:,} entries; there is room for {left:,}")
    cursor.entries_left -= count
    if element == STRING:
        return cursor.texts(count, what)
    if element == BOOL:
        raw = cursor.take(count, what)
        if raw.translate(None, b"\x00\x01"):
            raise cursor.error(what, "a boolean that is neither 0 nor 1")
        return [byte == 1 for byte in raw]
    return list(struct.unpack(f"<{count}{SCALARS[element]}", cursor.take(count * smallest, what)))


def _alignment(cursor: Cursor, metadata: dict[str, Any]) -> int:
    alignment = metadata.get("general.alignment", DEFAULT_ALIGNMENT)
    if type(alignment) is not int or alignment < 8 or alignment & (alignment - 1):
        problem = f"{quoted(alignment)}; a power of two from 8 is allowed"
        raise cursor.error("general.alignment", problem)
    return alignment


def _read_tensor(cursor: Cursor, index: int) -> TensorInfo:
    """Read what the header says of a tensor; its offset still counts from the data's start."""
    name = cursor.text(f"name of tensor {index}", most=MAX_NAME_BYTES)
    what = f"tensor {quoted(name)}"
    dimensions = cursor.number("I", f"{what}: dimensions", most=MAX_DIMENSIONS)
    shape = tuple(cursor.number("Q", f"{what}: dimension {n}") for n in range(dimensions))[::-1]
    code = cursor.number("I", f"{what}: type")
    offset = cursor.number("Q", f"{what}: offset")
    if code not in TYPES:
        known = ", ".join(kind.name for kind in TYPES.values())
        raise cursor.error(what, f"type {code} is not known; {known} are")
    kind = TYPES[code]
    if not shape or min(shape) < 1:
        raise cursor.error(what, f"shape {list(shape)}; 1 to {MAX_DIMENSIONS} sizes above 0")
    if shape[-1] % kind.block:
        problem = f"rows of {shape[-1]:,} values; {kind.name} needs a multiple of {kind.block}"
        raise cursor.error(what, problem)
    return TensorInfo(name, shape, kind, offset, math.prod(shape) // kind.block * kind.block_bytes)


def _place(cursor: Cursor, info: TensorInfo, start: int, alignment: int) -> TensorInfo:
    """Turn the offset into one from the file's start, checked against the file's size."""
    what = f"tensor {quoted(info.name)}: offset"
    if info.offset % alignment:
        raise cursor.error(what, f"{info.offset:,} is no multiple of the alignment {alignment}")
    offset = start + info.offset
    if offset + info.nbytes > cursor.size:
        problem = f"ends at byte {offset + info.nbytes:,}, the file has {cursor.size:,}"
        raise cursor.error(what, f"{problem}: cut short, or a wrong size")
    return TensorInfo(info.name, info.shape, info.type, offset, info.nbytes)


def _refuse_overlaps(cursor: Cursor, tensors: dict[str, TensorInfo]) -> None:
    in_order = sorted(tensors.values(), key=lambda tensor: tensor.offset)
    for before, after in pairwise(in_order):
        if before.offset + before.nbytes > after.offset:
            problem = f"its data overlap those of tensor {quoted(before.name)}"
            raise cursor.error(f"tensor {quoted(after.name)}: offset", problem)
