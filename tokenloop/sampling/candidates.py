"""The candidates still in play, and the one order in which they are always read."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

BLOCK = 64
"""Candidates a block, in the search for the best ones."""

SORTED_FIRST = 256
"""How many of the best are looked at before all are."""
LEVELS_PER_NAT, DEEPEST = 64, 4095
"""How finely candidates are parted by their logit's distance from the best; the rest is one."""

Floats = NDArray[np.float64]
Ids = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Vocabulary entries with finite logits.

    Attributes:
        ids: (n,) ascending.
        logits: (n,) float64, all finite.
    """

    ids: Ids
    logits: Floats
    _memo: dict[str, NDArray[np.intp]] = field(default_factory=dict, init=False, repr=False)

    def __len__(self) -> int:
        """How many survive."""
        return len(self.ids)

    def keep(self, mask: Mask) -> Self:
        """Those where ``mask`` (n,) is true."""
        return type(self)(self.ids[mask], self.logits[mask])

    def keep_indices(self, indices: NDArray[np.intp]) -> Self:
        """Those at ``indices`` (m,), in the order of their ids."""
        mask = np.zeros(len(self), dtype=np.bool_)
        mask[indices] = True
        return self.keep(mask)

    def reshaped(self, logits: Floats) -> Self:
        """The same candidates with other logits (n,); what fell to minus infinity is dropped."""
        finite = np.isfinite(logits)
        if finite.all():
            return type(self)(self.ids, logits)
        return type(self)(self.ids[finite], logits[finite])

    @cached_property
    def log_sum_exp(self) -> float:
        """Natural log of Σ exp(logit), computed around the largest."""
        return self._largest + math.log(self._softmax[1])

    @property
    def probabilities(self) -> Floats:
        """(n,) softmax of the logits; sums to one."""
        return self._softmax[0]

    @cached_property
    def _largest(self) -> float:
        return float(self.logits.max())

    @cached_property
    def _softmax(self) -> tuple[Floats, float]:
        """The probabilities, and Σ exp(logit − largest); in place, as fresh memory costs more."""
        weights: Floats = self.logits - self._largest
        np.exp(weights, out=weights)
        total = float(weights.sum())
        weights /= total
        return weights, total

    @cached_property
    def entropy_bits(self) -> float:
        """Shannon entropy −Σ p log₂ p of the probabilities, as (ln Σ exp − Σ p · logit) / ln 2."""
        nats = self.log_sum_exp - float(self.probabilities @ self.logits)
        return max(0.0, nats / math.log(2))

    def best(self, count: int) -> NDArray[np.intp]:
        """Indices of the ``count`` best: descending logit, lowest id first among equals.

        Returns:
            (min(count, n),) indices into ``ids``.
        """
        known = self._memo.get("best")
        if known is None or len(known) < min(count, len(self)):
            known = self._memo["best"] = self._sorted(count)
        return known[:count]

    def _sorted(self, count: int) -> NDArray[np.intp]:
        blocks = self.logits[: len(self) // BLOCK * BLOCK].reshape(-1, BLOCK).max(axis=1)
        if count > len(blocks):
            return np.argsort(-self.logits, kind="stable")
        # The count-th best block maximum: at least so many candidates reach it, so none below it
        # is among the best. Sorting those alone takes 0.1 ms of 49,152, sorting all 4 ms.
        floor = np.partition(blocks, len(blocks) - count)[len(blocks) - count]
        reaching = np.flatnonzero(self.logits >= floor)
        return reaching[np.argsort(-self.logits[reaching], kind="stable")]

    def reaching(self, mass: float, *, beyond: bool = False) -> tuple[int, float, float]:
        """The candidate at which the cumulative distribution, best first, reaches ``mass``.

        Args:
            mass: in [0, 1].
            beyond: whether it must pass ``mass`` rather than reach it.

        Returns:
            Its index, and the cumulative probability before and with it. Where rounding leaves the
            whole sum a hair below ``mass``, the last candidate with any probability is meant.
        """
        side: Literal["left", "right"] = "right" if beyond else "left"
        members, below = self.best(SORTED_FIRST), 0.0
        sums = np.cumsum(self.probabilities[members])
        if sums[-1] < mass or (beyond and sums[-1] == mass):
            members, below = self._level_that_reaches(mass, side)
            sums = below + np.cumsum(self.probabilities[members])
        last = min(int(np.searchsorted(sums, mass, side=side)), len(sums) - 1)
        while last > 0 and self.probabilities[members[last]] == 0:
            last -= 1
        return int(members[last]), float(sums[last - 1]) if last else below, float(sums[last])

    def _level_that_reaches(
        self, mass: float, side: Literal["left", "right"]
    ) -> tuple[NDArray[np.intp], float]:
        """Those candidates of one 64th of a nat among which ``mass`` is reached, best first.

        Adding up by such levels and sorting one of them takes 1 ms of 262,144 candidates, sorting
        them all 30 ms.

        Returns:
            Their indices, and the probability of all better ones.
        """
        depths = np.minimum((self._largest - self.logits) * LEVELS_PER_NAT, DEEPEST)
        levels = depths.astype(np.intp)
        sums = np.cumsum(np.bincount(levels, self.probabilities))
        level = int(np.searchsorted(sums, mass, side=side))
        if level == len(sums):  # the whole sum is below: the last level with any probability
            level = int(np.searchsorted(sums, sums[-1]))
        members = np.flatnonzero(levels == level)
        ordered = members[np.argsort(-self.logits[members], kind="stable")]
        return ordered, float(sums[level - 1]) if level else 0.0

    def find(self, token_id: int) -> int | None:
        """Index of a token, or ``None`` where it was cut."""
        index, found = self.locate(np.array([token_id], dtype=np.int64))
        return int(index[0]) if found[0] else None

    def locate(self, ids: Ids) -> tuple[NDArray[np.intp], Mask]:
        """Indices (m,) of ids and whether each is here; an index counts only where it is."""
        index = np.minimum(np.searchsorted(self.ids, ids), len(self) - 1)
        return index, self.ids[index] == ids

    def probabilities_of(self, ids: Ids) -> Floats:
        """(m,) probabilities of the given ids, 0 where cut."""
        index, found = self.locate(ids)
        return np.where(found, self.probabilities[index], 0.0)

    def rank_of(self, token_id: int) -> int | None:
        """1 + how many come before it in the fixed order; ``None`` where it was cut."""
        index = self.find(token_id)
        return None if index is None else 1 + int(self._before(index).sum())

    def interval_of(self, token_id: int) -> tuple[float, float] | None:
        """Its part [low, high) of the cumulative distribution; ``None`` where it was cut."""
        index = self.find(token_id)
        if index is None:
            return None
        low = float(self.probabilities[self._before(index)].sum())
        return low, low + float(self.probabilities[index])

    def up_to(self, index: int) -> Self:
        """A candidate and all before it in the fixed order."""
        mask = self._before(index)
        mask[index] = True
        return self.keep(mask)

    def _before(self, index: int) -> Mask:
        level = self.logits[index]
        before: Mask = self.logits > level
        before[:index] |= self.logits[:index] == level
        return before
