"""From packed weights back to numbers, for products of many rows.

torch's product over packed weights unpacks them anew for every few rows. Where a processor has
instructions for bfloat16, unpacking once and multiplying bfloat16 numbers is faster: 512 rows
through the products of a 135M model's layers took 28 ms of unpacking and 249 of products on two
cores of an EPYC with AVX-512, the packed products 640.

How torch lays packed weights out is its own affair and differs between processors:
:func:`unpacking_works` tries whether it is what is expected here.
"""

from __future__ import annotations

from functools import cache

import torch

from tokenloop_models.levels import GROUP

TOGETHER = 64
"""Outputs that torch keeps together: each byte holds an output's level and that of 32 after it."""
HALF = TOGETHER // 2


def unpack(packed: torch.Tensor, scales_zeros: torch.Tensor) -> torch.Tensor:
    """Weights as numbers, scale · (level − 8) + zero, rounded once.

    Args:
        packed: levels as torch packs them, uint8, (outputs, inputs / 2), outputs a multiple of 64.
        scales_zeros: bfloat16, (inputs / 32, outputs, scale and zero).

    Returns:
        bfloat16, (inputs, outputs).
    """
    outputs, inputs = packed.shape[0], 2 * packed.shape[1]
    pairs = packed.view(outputs // TOGETHER, inputs, HALF)
    weights = torch.empty(inputs, outputs // TOGETHER, TOGETHER, dtype=torch.bfloat16)
    blocks = weights.transpose(0, 1)
    blocks[..., :HALF] = (pairs & 15).sub_(8).view(torch.int8)  # below 0, bytes go round
    blocks[..., HALF:] = (pairs >> 4).sub_(8).view(torch.int8)
    grouped = weights.view(-1, GROUP, outputs)
    scale, zero = (each.contiguous()[:, None] for each in scales_zeros.unbind(-1))
    return torch.addcmul(zero, grouped, scale, out=grouped).view(inputs, outputs)


@cache
def unpacking_works() -> bool:
    """Whether this processor multiplies bfloat16 numbers, and packed levels lie as expected."""
    try:
        # oneDNN alone says yes to any AVX-512, and takes three times as long as packed products
        known = torch.cpu._is_avx512_bf16_supported(), torch.ops.mkldnn._is_mkldnn_bf16_supported()
        if not all(known):
            return False
        levels = torch.arange(2 * TOGETHER * GROUP, dtype=torch.int32).view(2 * TOGETHER, GROUP)
        levels = levels * 7 % 61 % 16  # no pattern that another layout shares
        packed = torch._convert_weight_to_int4pack_for_cpu(levels, 1)
        ones = torch.stack([torch.ones(1, len(levels)), torch.zeros(1, len(levels))], dim=-1)
        return torch.equal(unpack(packed, ones.bfloat16()), (levels - 8).t().bfloat16())
    except (AttributeError, RuntimeError, TypeError):
        return False
