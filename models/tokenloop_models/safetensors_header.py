"""The header of a safetensors file: which tensor lies where.

Layout of the published format: the header's length as u64, little endian; the header, a JSON
object of ``name: {"dtype", "shape", "data_offsets": [begin, end]}`` with an optional
``__metadata__`` of strings; then the data, without gaps, from which the offsets count. Every
number is checked against the file before anything is sized by it. No torch is needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard

from tokenloop_models.errors import ModelError, quoted
from tokenloop_models.file_kinds import file_size, shown, unreadable, what_it_is
from tokenloop_models.strict_json import parse_object

if TYPE_CHECKING:
    from pathlib import Path

MAX_HEADER_BYTES = 100_000_000  # the format's own limit

ITEM_BITS = {
    "BOOL": 8,
    "F4": 4,
    "F6_E2M3": 6,
    "F6_E3M2": 6,
    "U8": 8,
    "I8": 8,
    "F8_E5M2": 8,
    "F8_E4M3": 8,
    "F8_E8M0": 8,
    "F8_E4M3FNUZ": 8,
    "F8_E5M2FNUZ": 8,
    "I16": 16,
    "U16": 16,
    "F16": 16,
    "BF16": 16,
    "I32": 32,
    "U32": 32,
    "F32": 32,
    "C64": 64,
    "F64": 64,
    "I64": 64,
    "U64": 64,
}


@dataclass(frozen=True, slots=True)
class StoredTensor:
    """One tensor of the file.

    Attributes:
        file: that holds it.
        dtype: the format's name for it ("BF16").
        shape: as torch has it.
        offset: of its first byte from the start of the file.
        nbytes: what it takes in the file.
    """

    file: Path
    dtype: str
    shape: tuple[int, ...]
    offset: int
    nbytes: int


@dataclass(frozen=True, slots=True)
class SafetensorsHeader:
    """What a safetensors file says before its data: the tensors, and the header's length."""

    tensors: dict[str, StoredTensor]
    nbytes: int


def read_header(path: Path) -> SafetensorsHeader:
    """Read and check the header of one safetensors file.

    Raises:
        ModelError: the file can't be read, is something else, is cut short, or says something
            that can't be so; the line names the file and the field.
    """
    size = file_size(path)
    try:
        with path.open("rb") as file:
            head = file.read(32)
            length = int.from_bytes(head[:8], "little")
            _refuse_other_kinds(path, size, head, length)
            file.seek(8)
            text = file.read(length)
    except OSError as error:
        raise unreadable(path, error) from None
    header = parse_object(text, shown(path), "header")
    header.pop("__metadata__", None)
    data_start = 8 + length
    tensors = {name: _tensor(path, name, said, data_start) for name, said in header.items()}
    _refuse_gaps(path, tensors, data_start, size)
    return SafetensorsHeader(tensors, data_start)


def _refuse_other_kinds(path: Path, size: int, head: bytes, length: int) -> None:
    kind = what_it_is(head)
    if kind:
        raise ModelError(f"{shown(path)}: is {kind}; a safetensors file is needed")
    if size < 10 or length > min(size - 8, MAX_HEADER_BYTES):
        room = min(max(size - 8, 0), MAX_HEADER_BYTES)
        problem = f"header: {length:,} bytes, at most {room:,} are possible"
        raise ModelError(f"{shown(path)}: {problem}: cut short, or not a safetensors file")
    if head[8:9] != b"{":
        raise ModelError(f"{shown(path)}: header: is no JSON object; not a safetensors file")


def _tensor(path: Path, name: str, said: Any, data_start: int) -> StoredTensor:
    what = f"{shown(path)}: tensor {quoted(name)}"
    if not isinstance(said, dict):
        raise ModelError(f"{what}: is described by {quoted(said)}; an object is needed")
    dtype, shape, span = (said.get(key) for key in ("dtype", "shape", "data_offsets"))
    if not isinstance(dtype, str) or dtype not in ITEM_BITS:
        raise ModelError(f"{what}: dtype: {quoted(dtype)} is not known to the format")
    if not _whole_numbers(shape) or len(shape) > 16:
        raise ModelError(f"{what}: shape: {quoted(shape)}; a list of sizes is needed")
    if not _whole_numbers(span) or len(span) != 2 or span[0] > span[1]:
        raise ModelError(f"{what}: data_offsets: {quoted(span)}; [begin, end] is needed")
    nbytes = span[1] - span[0]
    if math.prod(shape) * ITEM_BITS[dtype] != 8 * nbytes:
        problem = f"{nbytes:,} bytes don't make {list(shape)} of {dtype}"
        raise ModelError(f"{what}: data_offsets: {quoted(problem)[1:-1]}")
    return StoredTensor(path, dtype, tuple(shape), data_start + span[0], nbytes)


def _whole_numbers(value: Any) -> TypeGuard[list[int]]:
    limit = 1 << 63
    return isinstance(value, list) and all(type(n) is int and 0 <= n < limit for n in value)


def _refuse_gaps(path: Path, tensors: dict[str, StoredTensor], start: int, size: int) -> None:
    end = start
    for name, tensor in sorted(tensors.items(), key=lambda item: item[1].offset):
        if tensor.offset != end:
            how = "overlaps another tensor" if tensor.offset < end else "leaves a gap before it"
            raise ModelError(f"{shown(path)}: tensor {quoted(name)}: data_offsets: {how}")
        end = tensor.offset + tensor.nbytes
    if end != size:
        problem = f"its tensors end at byte {end:,}, the file at {size:,}"
        raise ModelError(f"{shown(path)}: {problem}: cut short, or something was added")
