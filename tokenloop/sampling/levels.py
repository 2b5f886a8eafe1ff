"""Adding up probabilities nearest first, without sorting every candidate."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Side = Literal["left", "right"]
"""``left``: the sum reaches the mass; ``right``: it passes it."""

LEVELS_PER_NAT, DEEPEST = 64, 4095
"""How finely candidates are parted by their distance in nats; all beyond the deepest are one."""


def levels_of(distances: Floats, probabilities: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Part candidates by distance, a 64th of a nat each.

    Adding up by such levels and sorting one of them takes 1 ms of 262,144 candidates, sorting them
    all 30 ms.

    Args:
        distances: (n,) ≥ 0, in nats; overwritten, as fresh memory costs more than the arithmetic.
        probabilities: (n,) what is added up.

    Returns:
        (n,) each one's level, and (levels,) the probability up to and with each level.
    """
    distances *= LEVELS_PER_NAT
    np.minimum(distances, DEEPEST, out=distances)
    levels = distances.astype(np.intp)
    return levels, np.cumsum(np.bincount(levels, probabilities))


def level_that_reaches(
    levels: NDArray[np.intp], sums: Floats, mass: float, side: Side
) -> tuple[NDArray[np.intp], float]:
    """The candidates of the level in which the sum, nearest first, reaches a mass.

    Args:
        levels: (n,) each one's level.
        sums: (levels,) the probability up to and with each level.
        mass: in [0, 1].
        side: whether the sum must reach ``mass`` or pass it.

    Returns:
        Their indices, ascending, at least one; and the probability of all nearer ones.
    """
    # The levels before the first probability hold nobody that counts.
    level = int(np.searchsorted(sums, mass, side=side if mass > 0 else "right"))
    if level == len(sums):  # the whole sum is below: the last level with any probability
        level = int(np.searchsorted(sums, sums[-1]))
    return np.flatnonzero(levels == level), float(sums[level - 1]) if level else 0.0
