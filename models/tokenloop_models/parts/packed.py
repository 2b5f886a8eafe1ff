"""Matrix products whose weights stay the whole numbers of a few bits that their file holds.

They run on torch's product for 4-bit weights, which multiplies bfloat16 rows and adds in float32.
No level is rounded; scales, the row and the result are, to bfloat16's 8 bits. Its name begins with
an underscore: :func:`packed_products_work` tries it before it is relied on.

A product of many rows unpacks the weights into numbers, for as long as it takes, where that is
faster (``unpacking.py``): the weights are rounded to bfloat16 too then.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from tokenloop_models.levels import GROUP, Levels
from tokenloop_models.parts.unpacking import TOGETHER, unpack, unpacking_works

if TYPE_CHECKING:
    from collections.abc import Sequence

NARROW = 4
"""Bits of a level that the product takes."""
ROWS = 16
"""The product takes outputs by this many."""
AT_ONCE = 2**22
"""Levels packed or unpacked at a time: packing wants them as int32."""
MANY = 128
"""Rows from which unpacking pays.

On two cores that share their cache it does from 64 on, on two that don't from about 200 on.
"""


class PackedLinear:
    """y = x Wᵀ + b, each weight scale · (level − 8) + zero with a level of 4 bits.

    Levels of more bits are two such matrices side by side, 16 · high + low, and the row is
    multiplied with both.
    """

    __slots__ = ("_copies", "_packed", "_row", "_scales_zeros", "_unpacks", "bias")

    def __init__(self, parts: Sequence[Levels], bias: torch.Tensor | None = None) -> None:
        """Pack the weights.

        Args:
            parts: matrices of the same inputs, rows below rows; in all (outputs, inputs) for which
                :func:`packable` holds.
            bias: (outputs,).
        """
        wide = any(part.bits > NARROW for part in parts)
        columns = zip(*(_planes(part, wide) for part in parts), strict=True)
        values, scale, zero = (torch.cat(column) for column in columns)
        self._packed = _packed(values)
        both = torch.stack([scale, zero], dim=-1)  # (outputs, groups, 2)
        self._scales_zeros = both.transpose(0, 1).to(torch.bfloat16).contiguous()
        self._unpacks = len(values) % TOGETHER == 0 and unpacking_works()
        # one row, rounded, once for each plane: (planes, inputs), and as the product takes it
        self._copies = torch.empty(2 if wide else 1, parts[0].values.shape[1], dtype=torch.bfloat16)
        self._row = self._copies.view(1, -1)
        self.bias = bias

    def __call__(self, x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
        """Multiply: see :class:`Product`."""
        count = x.shape[0]
        if count == 1:
            self._copies.copy_(x)
            rows = self._row
        else:
            rows = x.bfloat16().contiguous()
            if len(self._copies) > 1:
                rows = torch.cat([rows, rows], dim=1)
        if count >= MANY and self._unpacks:
            y = self._many(rows, x.dtype)
        else:
            y = torch._weight_int4pack_mm_for_cpu(rows, self._packed, GROUP, self._scales_zeros)
            if out is not None:
                y = out.copy_(y)
            else:
                y = y.float() if x.dtype == torch.float32 else y.to(x.dtype)
        return y if self.bias is None else y.add_(self.bias)

    def _many(self, rows: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
        """Multiply with weights unpacked, some outputs at a time."""
        outputs, inputs = len(self._packed), rows.shape[1]
        y = rows.new_empty(len(rows), outputs, dtype=dtype)
        for some in _pieces(outputs, inputs):
            y[:, some] = rows @ unpack(self._packed[some], self._scales_zeros[:, some])
        return y


def packable(outputs: int, inputs: int) -> bool:
    """Whether the product takes a matrix of that size."""
    return outputs % ROWS == 0 and inputs % GROUP == 0


def packed_products_work() -> bool:
    """Whether this torch has the product, and it does what it is taken for."""
    if not hasattr(torch, "_weight_int4pack_mm_for_cpu"):
        return False
    level = torch.arange(2 * GROUP * ROWS, dtype=torch.uint8).view(ROWS, 2 * GROUP) % 16
    scale = torch.arange(1.0, 1 + 2 * ROWS).view(ROWS, 2)
    weight = level * scale.repeat_interleave(GROUP, dim=1) - 2
    levels = Levels(level, scale, torch.full_like(scale, -2.0), bits=NARROW)
    x = torch.eye(2 * GROUP)[::7]  # picks single weights, which bfloat16 holds to 8 bits
    try:
        product = PackedLinear([levels])(x)
    except (RuntimeError, TypeError):
        return False
    return torch.allclose(product, x @ weight.t(), rtol=2**-7, atol=2.0)


Planes = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
"""4-bit levels (rows, columns), scales and zeros (rows, columns / 32)."""


def _planes(levels: Levels, wide: bool) -> Planes:
    """One matrix of 4-bit levels, or two side by side.

    Zeros are kept small against what they are added to, so that little is lost when they are
    rounded: high levels count from the middle of their range.
    """
    values, scale, offset = levels.values, levels.scale, levels.offset
    if levels.bits > NARROW:
        middle = 2 ** (levels.bits - 1)
        high = (values >> 4) + 8 - middle // 16, 16 * scale, offset + middle * scale
        low = values & 15, scale, 8 * scale
        return _beside(high, low)
    low = values, scale, offset + 8 * scale
    if not wide:
        return low
    nothing = torch.full_like(values, 8), torch.zeros_like(scale), torch.zeros_like(scale)
    return _beside(nothing, low)


def _beside(left: Planes, right: Planes) -> Planes:
    values, scale, zero = (torch.cat(pair, dim=1) for pair in zip(left, right, strict=True))
    return values, scale, zero


def _packed(values: torch.Tensor) -> torch.Tensor:
    """4-bit levels, (outputs, inputs), in the order that the product reads."""
    return torch.cat(
        [
            torch._convert_weight_to_int4pack_for_cpu(values[some].int(), 1)
            for some in _pieces(*values.shape)
        ]
    )


def _pieces(outputs: int, inputs: int) -> list[slice]:
    """Outputs packed or unpacked at a time: whole blocks of those that torch keeps together."""
    step = max(AT_ONCE // inputs // TOGETHER, 1) * TOGETHER
    return [slice(start, start + step) for start in range(0, outputs, step)]
