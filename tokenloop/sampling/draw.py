"""The draw: a number that depends on seed, position and attempt alone, and what it falls on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tokenloop.sampling.candidates import SORTED_FIRST, Candidates, Floats, Ids


def uniform(seed: int, position: int, attempt: int, stream: int = 0) -> float:
    """A number in [0, 1) from a counter-based generator: the same for the same four numbers.

    Philox 4×64 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"), the seed as its
    key, position, attempt and stream as its counter; the upper 53 bits of the first word.

    Args:
        seed: in [0, 2**64).
        position: index in the prefix of the token to draw.
        attempt: how often that position was rolled again.
        stream: what the number is for: 0 is the draw, 1 the chance of a stage.
    """
    generator = np.random.Philox(key=seed, counter=[0, position, attempt, stream])
    return float(int(generator.random_raw()) >> 11) * 2.0**-53


@dataclass(frozen=True)
class Drawn:
    """The candidate that ``u`` fell on, and its interval [low, high)."""

    token_id: int
    low: float
    high: float


def invert(candidates: Candidates, u: float) -> Drawn:
    """Find the candidate whose interval of the cumulative distribution holds ``u``.

    The order is fixed: descending probability, lowest id first among equals.

    Args:
        candidates: the final ones.
        u: in [0, 1).
    """
    index, low, high = candidates.reaching(u, beyond=True)
    return Drawn(int(candidates.ids[index]), low, high)


def invert_each(candidates: Candidates, numbers: Floats) -> Ids:
    """Find the candidates that many numbers fall on: as :func:`invert`, one by one.

    Args:
        candidates: the final ones.
        numbers: (n,) in [0, 1).

    Returns:
        (n,) token ids.
    """
    best = candidates.best(SORTED_FIRST)
    sums = np.cumsum(candidates.probabilities[best])
    found = _passing(candidates, best, sums, numbers)
    deep = np.flatnonzero(numbers >= sums[-1])
    if len(deep):
        found[deep] = _deep(candidates, numbers[deep])
    return candidates.ids[found]


def _deep(candidates: Candidates, numbers: Floats) -> NDArray[np.intp]:
    """Indices for numbers beyond the very best: level by level, as a single draw finds them."""
    levels, level_sums = candidates.levels
    wanted = np.searchsorted(level_sums, numbers, side="right")
    wanted[wanted == len(level_sums)] = np.searchsorted(level_sums, level_sums[-1])
    ordered = np.lexsort((-candidates.logits, levels))  # level by level, each best first
    ends = np.cumsum(np.bincount(levels))
    found = np.empty(len(numbers), dtype=np.intp)
    for level in np.unique(wanted).tolist():
        start, below = (ends[level - 1], level_sums[level - 1]) if level else (0, 0.0)
        members = ordered[start : ends[level]]
        sums = below + np.cumsum(candidates.probabilities[members])
        here = wanted == level
        found[here] = _passing(candidates, members, sums, numbers[here])
    return found


def _passing(
    candidates: Candidates, members: NDArray[np.intp], sums: Floats, numbers: Floats
) -> NDArray[np.intp]:
    """The members, best first, at which their cumulative sums pass the numbers."""
    likely = max(1, int(np.count_nonzero(candidates.probabilities[members])))
    return members[np.minimum(np.searchsorted(sums, numbers, side="right"), likely - 1)]
