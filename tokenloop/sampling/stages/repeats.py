"""Where the end of a text stands a second time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tokenloop.sampling.candidates import Ids

Lengths = NDArray[np.int64]


def repeats(seen: Sequence[int]) -> Lengths:
    """How far the end of a sequence is found again at each earlier place.

    The Z-algorithm (Gusfield 1997, "Algorithms on Strings, Trees and Sequences", §1.4) from the end
    backwards: time in proportion to the length, however much repeats. Places that do not hold the
    last token are 0 without a look.

    Args:
        seen: n token ids, oldest first.

    Returns:
        (max(0, n − 1),) for each place but the last one: how many tokens up to and with it equal as
        many at the end.
    """
    count = len(seen)
    if count < 2:
        return np.zeros(0, dtype=np.int64)
    tokens = np.array(seen[::-1], dtype=np.int64)
    backwards = tokens.tolist()
    lengths = [0] * count
    low = high = 0  # the match that reaches farthest so far
    for place in (np.flatnonzero(tokens[1:] == tokens[0]) + 1).tolist():
        length = min(lengths[place - low], high - place) if place < high else 0
        while place + length < count and backwards[place + length] == backwards[length]:
            length += 1
        lengths[place] = length
        if place + length > high:
            low, high = place, place + length
    return np.array(lengths[:0:-1], dtype=np.int64)


def longest_by_successor(seen: Sequence[int], lengths: Lengths, least: int) -> tuple[Ids, Lengths]:
    """The tokens that would go on with a repetition, and the longest that each goes on with.

    Args:
        seen: n token ids, oldest first.
        lengths: (n − 1,) as :func:`repeats` gives them.
        least: how long a repetition has to be.

    Returns:
        (m,) ids, ascending, and (m,) lengths.
    """
    places = np.flatnonzero(lengths >= least)
    followers = np.array(seen[1:], dtype=np.int64)[places]
    ids, which = np.unique(followers, return_inverse=True)
    longest = np.zeros(len(ids), dtype=np.int64)
    np.maximum.at(longest, which, lengths[places])
    return ids, longest
