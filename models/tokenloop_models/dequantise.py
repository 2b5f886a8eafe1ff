"""From the blocks of a GGUF tensor to float32 values.

Every type that the ``gguf`` library can dequantise is read; its ``quants`` module does the general
case. The types that the default model is stored in (and the plain floats) have their own few lines
of torch, which take 1 ns a value where the library takes 12 (measured on two cores), so
that loading doesn't keep a class waiting. Tests hold both against each other, bit for bit.

Block layouts, from ggml's reference (``ggml-quants.c``); d and m are float16, q unsigned:

    Q8_0   d, 32 × int8                         value = d · q
    Q4_0   d, 16 bytes of two 4-bit q           value = d · (q − 8)
    Q4_1   d, m, 16 bytes of two 4-bit q        value = d · q + m

In the 16 bytes, the low halves are values 0 to 15 of the block, the high halves 16 to 31.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

    from tokenloop_models.gguf_types import TensorType

BLOCKS_AT_ONCE = 65_536  # 8 MiB of values: the temporaries stay small, the threads stay busy

PLAIN = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16, "F64": torch.float64}


def can_dequantise(kind: TensorType) -> bool:
    """Say whether :func:`dequantise` knows the type."""
    return kind.name in PLAIN or kind.name in BLOCK_READERS or kind.name in _library_types()


def dequantise(raw: Tensor, kind: TensorType) -> Tensor:
    """Turn stored blocks into values.

    Args:
        raw: the tensor's bytes, uint8, (bytes,); the result may share their memory.
        kind: how they are stored; :func:`can_dequantise` holds for it.

    Returns:
        float32, (values,).
    """
    if kind.name in PLAIN:
        return raw.view(PLAIN[kind.name]).to(torch.float32)
    blocks = raw.view(-1, kind.block_bytes)  # (blocks, bytes)
    reader = BLOCK_READERS.get(kind.name)
    if reader is None:
        return _by_library(blocks, kind)
    values = torch.empty(len(blocks), kind.block, dtype=torch.float32)
    for start in range(0, len(blocks), BLOCKS_AT_ONCE):
        piece = slice(start, start + BLOCKS_AT_ONCE)
        reader(blocks[piece], values[piece])
    return values.view(-1)


def _read_q8_0(blocks: Tensor, values: Tensor) -> None:
    scale = _halves(blocks[:, :2])  # (blocks, 1)
    torch.mul(blocks[:, 2:].view(torch.int8), scale, out=values)


def _read_q4_0(blocks: Tensor, values: Tensor) -> None:
    scale = _halves(blocks[:, :2])
    _nibbles(blocks[:, 2:], values).sub_(8).mul_(scale)


def _read_q4_1(blocks: Tensor, values: Tensor) -> None:
    scale_and_minimum = _halves(blocks[:, :4])  # (blocks, 2)
    scale, minimum = scale_and_minimum[:, :1], scale_and_minimum[:, 1:]
    _nibbles(blocks[:, 4:], values).mul_(scale).add_(minimum)


BLOCK_READERS: dict[str, Callable[[Tensor, Tensor], None]] = {
    "Q8_0": _read_q8_0,
    "Q4_0": _read_q4_0,
    "Q4_1": _read_q4_1,
}


def _halves(columns: Tensor) -> Tensor:
    """Read columns of bytes as float16 numbers, widened: (blocks, 2 n) → (blocks, n)."""
    return columns.contiguous().view(torch.float16).to(torch.float32)


def _nibbles(packed: Tensor, values: Tensor) -> Tensor:
    """Write the low halves of (blocks, n) bytes, then the high ones, into (blocks, 2 n) values."""
    half = packed.shape[1]
    values[:, :half] = packed & 0x0F
    values[:, half:] = packed >> 4
    return values


def _library_types() -> frozenset[str]:
    # Imported here: a file of the types above never needs the library.
    from gguf.quants import _type_traits

    return frozenset(kind.name for kind in _type_traits)


def _by_library(blocks: Tensor, kind: TensorType) -> Tensor:
    from gguf import GGMLQuantizationType
    from gguf.quants import dequantize

    # Blocks that overflow give infinities, as in every other reader; numpy need not warn of it.
    with np.errstate(all="ignore"):
        values = dequantize(blocks.numpy(), GGMLQuantizationType[kind.name])
    return torch.from_numpy(np.ascontiguousarray(values, dtype=np.float32)).view(-1)
