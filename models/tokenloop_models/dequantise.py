"""From the blocks of a GGUF tensor to float32 values.

Every type that the ``gguf`` library can dequantise is read; its ``quants`` module does the general
case. The types that most files are made of have readers of their own in torch, which take 0.3 to
2 ns a value where the library takes 1 to 4 (best of many, two cores), so that loading doesn't keep
a class waiting. Tests hold every type against the library, bit for bit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from tokenloop_models.block_readers import BLOCK_READERS

if TYPE_CHECKING:
    from torch import Tensor

    from tokenloop_models.gguf_types import TensorType

VALUES_AT_ONCE = 1 << 21  # 8 MiB of results: the temporaries stay small, the threads stay busy

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
    count = VALUES_AT_ONCE // kind.block
    for start in range(0, len(blocks), count):
        reader(blocks[start : start + count], values[start : start + count])
    return values.view(-1)


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
