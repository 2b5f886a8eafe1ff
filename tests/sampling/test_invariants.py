"""What holds for every chain on every distribution."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenloop.sampling import ORDERS, SamplerSettings, Situation, raw_candidates, run_chain

logits = st.lists(st.floats(-40, 40, width=32) | st.sampled_from([0.0, 1.0]), min_size=2).map(
    lambda values: np.array(values, dtype=np.float32)
)
settings = st.builds(
    SamplerSettings,
    order=st.sampled_from(sorted(ORDERS)),
    temperature=st.just(0.0) | st.floats(1e-3, 10),
    top_k=st.integers(0, 60),
    top_p=st.floats(0, 1),
    min_p=st.floats(0, 1),
    repeat_penalty=st.floats(0.5, 2),
    frequency_penalty=st.floats(-2, 2),
    presence_penalty=st.floats(-2, 2),
    repeat_last_n=st.none() | st.integers(-1, 8),
)
prefixes = st.lists(st.integers(0, 5), max_size=20)


@given(logits, settings, prefixes)
def test_something_survives_and_sums_to_one(logits, settings, prefix) -> None:
    trace = run_chain(raw_candidates(logits), Situation(prefix), settings)
    for outcome in trace.outcomes:
        assert len(outcome.after) >= 1
        assert outcome.after.probabilities.sum() == pytest.approx(1.0, abs=1e-9)


@given(logits, settings, prefixes)
def test_the_input_is_never_touched(logits, settings, prefix) -> None:
    logits_before, prefix_before = logits.copy(), list(prefix)
    raw = raw_candidates(logits)
    ids, scores = raw.ids.copy(), raw.logits.copy()
    run_chain(raw, Situation(prefix), settings)
    assert (logits == logits_before).all()
    assert prefix == prefix_before
    assert (raw.ids == ids).all()
    assert (raw.logits == scores).all()


@given(logits, settings, prefixes)
def test_stages_only_ever_cut_and_their_records_add_up(logits, settings, prefix) -> None:
    trace = run_chain(raw_candidates(logits), Situation(prefix), settings)
    left = trace.raw
    for outcome in trace.outcomes:
        assert outcome.before is left
        assert set(outcome.after.ids.tolist()) <= set(left.ids.tolist())
        if outcome.skipped is not None:
            assert len(outcome.after) == len(outcome.before)
        kept = outcome.before.probabilities_of(outcome.after.ids).sum()
        assert kept + outcome.mass_cut == pytest.approx(1.0, abs=1e-9)
        left = outcome.after


@given(logits, settings, prefixes)
def test_who_was_cut_by_whom_agrees_with_the_final_probabilities(logits, settings, prefix) -> None:
    trace = run_chain(raw_candidates(logits), Situation(prefix), settings)
    after = trace.probabilities_after(trace.raw.ids)
    cut_by = trace.cut_by(trace.raw.ids)
    for index, token_id in enumerate(trace.raw.ids.tolist()):
        survived = trace.final.find(token_id) is not None
        assert (cut_by[index] is None) == survived
        assert survived or after[-1, index] == 0.0


@given(logits, st.integers(1, 80))
def test_the_best_are_the_stable_sorts_best(logits, count) -> None:
    raw = raw_candidates(logits)
    stable = np.argsort(-raw.logits, kind="stable")[:count]
    assert raw.best(count).tolist() == stable.tolist()


@given(logits)
def test_ranks_count_from_one_in_the_fixed_order(logits) -> None:
    raw = raw_candidates(logits)
    order = raw.ids[raw.best(len(raw))].tolist()
    assert [raw.rank_of(token_id) for token_id in order] == list(range(1, len(raw) + 1))
