"""From the blocks of a GGUF tensor to the whole numbers they hold, with their scales.

A value of every type below is ``scale · level + offset``: the level a whole number of 4 to 8 bits,
scale and offset shared by 32 neighbours of a row. That is what a packed product reads, so that the
levels stay as they are in the file (layouts: ``block_readers.py``). Q6_K, whose scales are shared
by 16, and the other types have no such form.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch import Tensor

from tokenloop_models.block_readers import bits, halves, scales_of_parts, write_nibbles

if TYPE_CHECKING:
    from collections.abc import Callable

    from tokenloop_models.gguf_types import TensorType

GROUP = 32


@dataclass(frozen=True)
class Levels:
    """A matrix as scale · level + offset.

    Attributes:
        values: the levels, uint8, (rows, columns).
        scale, offset: of each group of 32 columns, float32, (rows, columns / 32).
        bits: how many a level has: from 0 to 2^bits − 1.
    """

    values: Tensor
    scale: Tensor
    offset: Tensor
    bits: int


def has_levels(kind: TensorType) -> bool:
    """Say whether :func:`read_levels` knows the type."""
    return kind.name in _READERS


def read_levels(raw: Tensor, kind: TensorType) -> Levels:
    """Take blocks apart.

    Args:
        raw: rows of blocks, uint8, (rows, bytes).
        kind: how they are stored; :func:`has_levels` holds for it.
    """
    rows = len(raw)
    blocks = raw.reshape(-1, kind.block_bytes)
    values, scale, offset = _READERS[kind.name](blocks)
    return Levels(
        values.view(rows, -1),
        scale.view(rows, -1),
        offset.view(rows, -1),
        bits=int(kind.name[1]),  # a type's name begins with it
    )


Read = tuple[Tensor, Tensor, Tensor]
"""Levels (blocks, values), scales and offsets (blocks, values / 32)."""


def _q4_0(blocks: Tensor) -> Read:
    scale = halves(blocks[:, :2])
    return _nibbles(blocks[:, 2:]), scale, -8 * scale


def _q4_1(blocks: Tensor) -> Read:
    scale, minimum = halves(blocks[:, :4]).chunk(2, dim=1)
    return _nibbles(blocks[:, 4:]), scale.contiguous(), minimum.contiguous()


def _q5_0(blocks: Tensor) -> Read:
    scale = halves(blocks[:, :2])
    return _nibbles(blocks[:, 6:]) + _fifth_bits(blocks[:, 2:6]), scale, -16 * scale


def _q5_1(blocks: Tensor) -> Read:
    scale, minimum = halves(blocks[:, :4]).chunk(2, dim=1)
    values = _nibbles(blocks[:, 8:]) + _fifth_bits(blocks[:, 4:8])
    return values, scale.contiguous(), minimum.contiguous()


def _q8_0(blocks: Tensor) -> Read:
    scale = halves(blocks[:, :2])
    return blocks[:, 2:] ^ 128, scale, -128 * scale  # int8 + 128, as its bits


def _q4_k(blocks: Tensor) -> Read:
    scale, minimum = scales_of_parts(blocks)
    return _nibbles(blocks[:, 16:].reshape(-1, 4, 32)), scale, -minimum


def _q5_k(blocks: Tensor) -> Read:
    scale, minimum = scales_of_parts(blocks)
    low = _nibbles(blocks[:, 48:].reshape(-1, 4, 32)).view(-1, 8, 32)
    return low + 16 * bits(blocks[:, 16:48], width=1), scale, -minimum


def _nibbles(packed: Tensor) -> Tensor:
    values = packed.new_empty(*packed.shape[:-1], 2 * packed.shape[-1])
    write_nibbles(packed, values)
    return values


def _fifth_bits(packed: Tensor) -> Tensor:
    """Bit by bit of 4 bytes, lowest first, as 0 or 16: (blocks, 4) → (blocks, 32)."""
    return 16 * bits(packed[:, :, None], width=1).reshape(len(packed), 32)


_READERS: dict[str, Callable[[Tensor], Read]] = {
    "Q4_0": _q4_0,
    "Q4_1": _q4_1,
    "Q5_0": _q5_0,
    "Q5_1": _q5_1,
    "Q8_0": _q8_0,
    "Q4_K": _q4_k,
    "Q5_K": _q5_k,
}

TYPES_WITH_LEVELS = ", ".join(_READERS)
"""Their names, for people."""
