"""GGUF and safetensors files written byte by byte, so that any of their numbers can be wrong."""

from __future__ import annotations

import json
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np

U8, U32, F32, BOOL, STRING, ARRAY, U64 = 0, 4, 6, 7, 8, 9, 10
F32_TENSOR, Q4_1_TENSOR = 0, 3


def text(value: str | bytes) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(raw)) + raw


def pair(key: str | bytes, kind: int, value: bytes) -> bytes:
    return text(key) + struct.pack("<I", kind) + value


def array(element: int, count: int, values: bytes) -> bytes:
    return struct.pack("<IQ", element, count) + values


def info(name: str | bytes, sizes: list[int], code: int, offset: int) -> bytes:
    shape = struct.pack(f"<I{len(sizes)}Q", len(sizes), *sizes)
    return text(name) + shape + struct.pack("<IQ", code, offset)


@dataclass
class Gguf:
    """A GGUF file in the making: one float32 tensor of (2, 16) unless told otherwise."""

    pairs: list[bytes] = field(
        default_factory=lambda: [pair("general.architecture", STRING, text("llama"))]
    )
    infos: list[bytes] = field(default_factory=lambda: [info("w", [16, 2], 0, 0)])
    data: bytes = np.arange(32, dtype=np.float32).tobytes()
    version: int = 3
    magic: bytes = b"GGUF"
    tensor_count: int | None = None
    key_count: int | None = None
    alignment: int = 32

    def header(self) -> bytes:
        tensors = len(self.infos) if self.tensor_count is None else self.tensor_count
        keys = len(self.pairs) if self.key_count is None else self.key_count
        counts = struct.pack("<IQQ", self.version, tensors, keys)
        return self.magic + counts + b"".join(self.pairs) + b"".join(self.infos)

    def bytes(self) -> bytes:
        header = self.header()
        return header + bytes(-len(header) % self.alignment) + self.data


def safetensors(header: Any, data: bytes = b"") -> bytes:
    """The bytes of a file with this header: an object, or the very text of it."""
    raw = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(raw)) + raw + data
