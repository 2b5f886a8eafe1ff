"""Philox 4×64 with 10 rounds for many counters at once.

Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3": a keyed bijection of 256-bit
counters, so that any number of a sequence can be had without those before it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]

MULTIPLIERS = (np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157))
KEY_STEPS = (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)
ROUNDS = 10
WORD = 2**64
HALF, LOW = np.uint64(32), np.uint64(0xFFFFFFFF)


def uniforms(
    seed: int, position: int, attempts: NDArray[np.integer], stream: int = 0
) -> NDArray[np.float64]:
    """The numbers of :func:`tokenloop.sampling.uniform` for many attempts, bit for bit.

    Args:
        seed: as there, like all of them.
        position: as there.
        attempts: (n,) each at least 0.
        stream: as there.

    Returns:
        (n,) in [0, 1).
    """
    # numpy's generator advances the counter before its first block: that is the 1.
    counter = [
        np.full(len(attempts), np.uint64(1)),
        np.full(len(attempts), np.uint64(position)),
        attempts.astype(np.uint64),
        np.full(len(attempts), np.uint64(stream)),
    ]
    first = philox(counter, (seed, 0))[0]
    return (first >> np.uint64(11)).astype(np.float64) * 2.0**-53


def philox(counter: list[Words], key: tuple[int, int]) -> list[Words]:
    """One block of four words for each counter.

    Args:
        counter: four words (n,), the lowest first.
        key: two words.
    """
    c0, c1, c2, c3 = counter
    for number in range(ROUNDS):
        k0, k1 = (
            np.uint64((word + number * step) % WORD)
            for word, step in zip(key, KEY_STEPS, strict=True)
        )
        high0, low0 = _product(MULTIPLIERS[0], c0)
        high1, low1 = _product(MULTIPLIERS[1], c2)
        c0, c1, c2, c3 = high1 ^ c1 ^ k0, low1, high0 ^ c3 ^ k1, low0
    return [c0, c1, c2, c3]


def _product(factor: np.uint64, words: Words) -> tuple[Words, Words]:
    """The 128-bit products, as high and low words: by halves, as long multiplication goes."""
    factor_high, factor_low = factor >> HALF, factor & LOW
    high, low = words >> HALF, words & LOW
    middle = factor_high * low + (factor_low * low >> HALF)  # below 2**64: (2**32 − 1)·2**32
    carry = factor_low * high + (middle & LOW)
    return factor_high * high + (middle >> HALF) + (carry >> HALF), factor * words
