"""Where the cumulative distribution reaches a mass: as sorting and adding up everything says."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenloop.sampling import Candidates, raw_candidates
from tokenloop.sampling.candidates import SORTED_FIRST


def naive(candidates: Candidates, mass: float) -> int:
    order = np.argsort(-candidates.logits, kind="stable")
    sums = np.cumsum(candidates.probabilities[order])
    return int(order[min(int(np.searchsorted(sums, mass)), len(order) - 1)])


@given(
    seed=st.integers(0, 2**32 - 1),
    spread=st.sampled_from([0.0, 0.01, 1.0, 5.0, 60.0]),
    mass=st.floats(0.001, 0.999),
)
def test_it_is_where_sorting_everything_says(seed: int, spread: float, mass: float) -> None:
    logits = (np.random.default_rng(seed).standard_normal(3000) * spread).astype(np.float32)
    candidates = raw_candidates(logits)
    index, low, high = candidates.reaching(mass)
    expected = naive(candidates, mass)
    # sums in another order may differ in the last digits: then it is the neighbour
    if index != expected:
        assert min(abs(low - mass), abs(high - mass)) < 1e-12
    assert low <= mass + 1e-12
    assert high >= mass - 1e-12
    assert high - low == pytest.approx(candidates.probabilities[index], abs=1e-12)
    kept = candidates.up_to(index)
    before = candidates.interval_of(int(candidates.ids[index]))
    assert before is not None
    assert before == pytest.approx((low, high), abs=1e-12)
    assert len(kept) == candidates.rank_of(int(candidates.ids[index]))


def test_among_equals_the_lowest_id_comes_first_however_many_they_are() -> None:
    candidates = raw_candidates(np.zeros(SORTED_FIRST * 8, dtype=np.float32))
    for wanted in (0, SORTED_FIRST - 1, SORTED_FIRST, SORTED_FIRST * 5 + 3):
        index, _, _ = candidates.reaching((wanted + 0.5) / len(candidates), beyond=True)
        assert index == wanted


def test_a_mass_beyond_the_whole_sum_means_the_last_with_any_probability() -> None:
    logits = np.full(4000, -np.float32(3e38))
    logits[:1000] = np.linspace(1, 0, 1000)
    index, _, high = raw_candidates(logits).reaching(1.0, beyond=True)
    assert index == 999
    assert high == pytest.approx(1.0)


def test_the_ids_of_a_whole_vocabulary_are_shared_and_stay_as_they_are() -> None:
    first = raw_candidates(np.zeros(500, dtype=np.float32))
    assert first.ids is raw_candidates(np.ones(500, dtype=np.float32)).ids
    with pytest.raises(ValueError, match="read-only"):
        first.ids[0] = 3
