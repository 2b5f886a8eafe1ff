"""Pearson's χ² test: whether counts go with the distribution that they were drawn from."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

LEAST_EXPECTED = 5.0
"""Draws that a class must expect, or the statistic does not follow its distribution (Cochran 1954,
"Some methods for strengthening the common χ² tests")."""


@dataclass(frozen=True)
class ChiSquare:
    """The test's outcome.

    Attributes:
        statistic: Σ (observed − expected)² / expected; ``None`` for fewer than two classes.
        degrees: of freedom, one less than the classes.
        p_value: the probability of so large a statistic if the counts do follow the distribution.
    """

    statistic: float | None
    degrees: int
    p_value: float | None


def chi_square(counts: NDArray[np.int64], probabilities: NDArray[np.float64]) -> ChiSquare:
    """Test counts against probabilities.

    Classes that expect fewer than 5 become one; where that still expects fewer, the least probable
    of the others joins it.

    Args:
        counts: (n,) how often each was drawn.
        probabilities: (n,) of each; they sum to one.
    """
    expected = probabilities * int(counts.sum())
    alone = expected >= LEAST_EXPECTED
    if 0 < expected[~alone].sum() < LEAST_EXPECTED and alone.any():
        alone[np.flatnonzero(alone)[expected[alone].argmin()]] = False
    observed, wanted = list(counts[alone]), list(expected[alone])
    pooled = expected[~alone].sum()
    if pooled > 0:
        observed.append(counts[~alone].sum())
        wanted.append(pooled)
    degrees = max(0, len(wanted) - 1)
    if degrees == 0:
        return ChiSquare(None, 0, None)
    statistic = math.fsum(
        float(seen - hoped) ** 2 / float(hoped)
        for seen, hoped in zip(observed, wanted, strict=True)
    )
    return ChiSquare(statistic, degrees, upper_tail(statistic, degrees))


def upper_tail(statistic: float, degrees: int) -> float:
    """The probability that χ² with so many degrees of freedom is larger.

    The regularised incomplete gamma function Q(degrees / 2, statistic / 2), which is a finite sum
    for whole degrees: Abramowitz & Stegun 1964, "Handbook of mathematical functions", 26.4.4 (odd)
    and 26.4.5 (even). All its terms are positive, so that nothing cancels.

    Args:
        statistic: at least 0.
        degrees: at least 1.
    """
    half = statistic / 2
    if half == 0:
        return 1.0
    odd = degrees % 2
    powers = np.arange(degrees // 2) + odd / 2  # 0, 1, … or ½, 1½, … below degrees / 2
    terms = (math.exp(power * math.log(half) - half - math.lgamma(power + 1)) for power in powers)
    return min(1.0, math.fsum(terms) + (math.erfc(math.sqrt(half)) if odd else 0.0))
