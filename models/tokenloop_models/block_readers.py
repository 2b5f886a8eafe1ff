"""Fast readers of the block layouts that most GGUF files are made of.

Layouts from ggml's reference (``ggml-quants.c``). Numbers named d and m are float16, q are
unsigned and packed, s and t are scales of a part of a block. Arithmetic is in float32 and in the
reference's order, so that the values are the same bit for bit.

    Q8_0   d, 32 × int8                                       d · q
    Q4_0   d, 16 bytes: 32 q of 4 bits                        d · (q − 8)
    Q4_1   d, m, 16 bytes                                     d · q + m
    Q5_0   d, 4 bytes: the fifth bits, 16 bytes               d · (q − 16)
    Q4_K   d, m, 12 bytes: 8 s and 8 t of 6 bits, 128 bytes   (d · s) · q − (m · t)
    Q5_K   d, m, 12 bytes, 32 bytes: fifth bits, 128 bytes    (d · s) · q − (m · t)
    Q6_K   128 bytes: low 4 bits, 64: high 2, 16 × int8 s, d  (d · s) · (q − 32)

A reader gets blocks as uint8 (blocks, bytes) and fills float32 values (blocks, values).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable


def _read_q8_0(blocks: Tensor, values: Tensor) -> None:
    torch.mul(blocks[:, 2:].view(torch.int8), halves(blocks[:, :2]), out=values)


def _read_q4_0(blocks: Tensor, values: Tensor) -> None:
    write_nibbles(blocks[:, 2:], values)
    values.sub_(8).mul_(halves(blocks[:, :2]))


def _read_q4_1(blocks: Tensor, values: Tensor) -> None:
    scale, minimum = halves(blocks[:, :4]).chunk(2, dim=1)  # each (blocks, 1)
    write_nibbles(blocks[:, 4:], values)
    values.mul_(scale).add_(minimum)


def _read_q5_0(blocks: Tensor, values: Tensor) -> None:
    write_nibbles(blocks[:, 6:], values)
    for byte in range(4):  # byte n has the fifth bits of values 8 n to 8 n + 7, lowest first
        fifth = bits(blocks[:, 2 + byte, None], width=1)  # (blocks, 8, 1)
        values[:, 8 * byte : 8 * byte + 8].add_(fifth.squeeze(2), alpha=16)
    values.sub_(16).mul_(halves(blocks[:, :2]))


def _read_q4_k(blocks: Tensor, values: Tensor) -> None:
    parts = values.view(-1, 8, 32)
    write_nibbles(blocks[:, 16:].reshape(-1, 4, 32), values.view(-1, 4, 64))
    _scale_parts(blocks, parts)


def _read_q5_k(blocks: Tensor, values: Tensor) -> None:
    parts = values.view(-1, 8, 32)
    write_nibbles(blocks[:, 48:].reshape(-1, 4, 32), values.view(-1, 4, 64))
    parts.add_(bits(blocks[:, 16:48], width=1), alpha=16)  # bit n of byte i: part n, value i
    _scale_parts(blocks, parts)


def _read_q6_k(blocks: Tensor, values: Tensor) -> None:
    low = blocks[:, :128].reshape(-1, 2, 64)
    high = blocks[:, 128:192].reshape(-1, 2, 32)
    scales = blocks[:, 192:208].view(torch.int8) * halves(blocks[:, 208:])  # (blocks, 16)
    write_nibbles(low, values.view(-1, 2, 128))
    values.view(-1, 2, 4, 32).add_(bits(high, width=2), alpha=16)
    values.view(-1, 16, 16).sub_(32).mul_(scales[:, :, None])


def _scale_parts(blocks: Tensor, parts: Tensor) -> None:
    """Apply d · s and m · t to the 8 parts of 32 values of each block."""
    scale, minimum = scales_of_parts(blocks)
    parts.mul_(scale[:, :, None]).sub_(minimum[:, :, None])


def scales_of_parts(blocks: Tensor) -> tuple[Tensor, Tensor]:
    """Read d · s and m · t of the 8 parts of 32 values of each block: (blocks, 8) each.

    The 12 bytes hold 6-bit numbers: bytes 0 to 3 have s of parts 0 to 3, bytes 4 to 7 their t, and
    in their two high bits those of parts 4 to 7; bytes 8 to 11 have the low four bits of the
    latter, s in the low half and t in the high one.
    """
    first, second, rest = blocks[:, 4:16].chunk(3, dim=1)  # each (blocks, 4)
    scales = torch.cat([first & 63, rest & 15 | first >> 2 & 48], dim=1)  # (blocks, 8)
    minima = torch.cat([second & 63, rest >> 4 | second >> 2 & 48], dim=1)
    scale, minimum = halves(blocks[:, :4]).chunk(2, dim=1)
    return scale * scales, minimum * minima


def halves(columns: Tensor) -> Tensor:
    """Read columns of bytes as float16 numbers, widened: (blocks, 2 n) → (blocks, n)."""
    return columns.contiguous().view(torch.float16).to(torch.float32)


def write_nibbles(packed: Tensor, values: Tensor) -> None:
    """Write the low halves of (…, n) bytes, then the high ones, into (…, 2 n) values."""
    half = packed.shape[-1]
    values[..., :half] = packed & 15
    values[..., half:] = packed >> 4


def bits(packed: Tensor, width: int) -> Tensor:
    """Split bytes into fields, lowest first: (…, n) → (…, 8 / width, n)."""
    shifts = torch.arange(0, 8, width, dtype=torch.uint8)
    return packed[..., None, :] >> shifts[:, None] & (1 << width) - 1


BLOCK_READERS: dict[str, Callable[[Tensor, Tensor], None]] = {
    "Q8_0": _read_q8_0,
    "Q4_0": _read_q4_0,
    "Q4_1": _read_q4_1,
    "Q5_0": _read_q5_0,
    "Q4_K": _read_q4_k,
    "Q5_K": _read_q5_k,
    "Q6_K": _read_q6_k,
}
