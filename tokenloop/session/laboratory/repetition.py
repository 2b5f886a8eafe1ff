"""The loop detector: whether the end of the text repeats itself.

Holtzman et al. 2019, "The curious case of neural text degeneration": text that maximises its
probability falls into loops, and each round makes the next one more certain.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tokenloop.records import Repetition
from tokenloop.session.tree import Node

LONGEST = 512
"""Tokens of the longest period that is looked for."""

SURE = 6
"""Tokens of a period that counts when it stands there twice; a shorter one must come three times
and take so many tokens in all ("New York, New York" and "ha ha ha" are no loops)."""


@dataclass(frozen=True)
class Loop:
    """What repeats at the end of a sequence.

    Attributes:
        period: of how many items.
        times: how often in a row.
        start: where the first one begins.
    """

    period: int
    times: int
    start: int


def find_loop(ids: Sequence[int]) -> Loop | None:
    """The smallest period with which a sequence ends.

    Args:
        ids: tokens.
    """
    for period in range(1, min(LONGEST, len(ids) // 2) + 1):
        if ids[-1] != ids[-1 - period]:
            continue
        length = period + _repeated(ids, period)
        times = length // period
        if length >= SURE and times >= (2 if period >= SURE else 3):
            return Loop(period, times, len(ids) - length)
    return None


def repetition(branch: Sequence[Node]) -> Repetition | None:
    """The loop that a text ends with, and how the model's entropy fell in it."""
    loop = find_loop([node.token.id for node in branch])
    if loop is None:
        return None
    first = branch[loop.start : loop.start + loop.period]
    return Repetition(
        period=loop.period,
        times=loop.times,
        start=loop.start,
        text="".join(node.token.label for node in first),
        entropy_before_bits=_mean_entropy(first),
        entropy_bits=_mean_entropy(branch[-loop.period :]),
    )


def _repeated(ids: Sequence[int], period: int) -> int:
    """How many last items equal the one a period before them."""
    at = len(ids) - 1
    while at >= period and ids[at] == ids[at - period]:
        at -= 1
    return len(ids) - 1 - at


def _mean_entropy(nodes: Sequence[Node]) -> float | None:
    """Over the distributions before the nodes' tokens; nothing came before the first of a text."""
    known = [node.entropy_bits for node in nodes if node.entropy_bits is not None]
    return sum(known) / len(known) if known else None
