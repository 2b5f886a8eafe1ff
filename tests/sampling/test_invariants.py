"""What holds for every chain on every distribution, whatever is set, reordered or switched off."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tokenloop.errors import DistributionError
from tokenloop.sampling import (
    ORDERS,
    PARAMETERS,
    STAGES,
    Grammar,
    SamplerSettings,
    Situation,
    Trace,
    raw_candidates,
    run_chain,
)

RESHAPES = {"logit_bias", "penalties", "dry", "smoothing", "dynamic_temperature", "temperature"}
"""What changes logits; every other stage only cuts."""

NEUTRAL = SamplerSettings(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0)

EOS = 1


@dataclass(frozen=True)
class Letters:
    """A vocabulary of single letters; token 3 is a newline, which breaks a repetition."""

    def raw(self, token_id: int) -> bytes:
        return b"\n" if token_id == 3 else bytes([97 + token_id % 26])

    def encode(self, text: str) -> list[int]:
        return [3 if letter == "\n" else ord(letter) - 97 for letter in text]

    def label(self, token_id: int) -> str:
        return str(token_id)


@dataclass(frozen=True, eq=False)
class Allows:
    """A grammar's answer at one prefix."""

    allowed: np.ndarray | None
    state: str = "somewhere"


logits = st.lists(st.floats(-40, 40, width=32) | st.sampled_from([0.0, 1.0]), min_size=2).map(
    lambda values: np.array(values, dtype=np.float32)
)
huge = st.lists(st.floats(-(2.0**127), 2.0**127, width=32), min_size=2, max_size=30).map(
    lambda values: np.array(values, dtype=np.float32)
)
off_sets = st.lists(st.sampled_from(sorted(STAGES)), max_size=3, unique=True).map(tuple)
own_orders = st.lists(st.sampled_from(sorted(STAGES)), min_size=1, unique=True).map(tuple)
OTHERS: dict[str, st.SearchStrategy[Any]] = {
    "order": st.sampled_from(sorted(ORDERS)),
    "stages": own_orders,
    "off": off_sets,
    "repeat_last_n": st.integers(-1, 8),
    "penalize_prompt": st.just(False),
    "logit_bias": st.dictionaries(
        st.integers(0, 1), st.floats(-9, 9) | st.just(-math.inf), max_size=2
    ),
    "bad_words": st.lists(st.sampled_from([(0,), (1,), (0, 1), (1, 1, 0)]), max_size=2).map(tuple),
    "grammar": st.just(Grammar("regex", "x")),
}
"""What is no number, with what it may be."""


def values_of(name: str) -> st.SearchStrategy[Any]:
    if name in OTHERS:
        return OTHERS[name]
    parameter = PARAMETERS[name]
    if name == "mirostat":
        return st.just(2)
    if parameter.whole:
        return st.integers(int(parameter.low), min(12, int(parameter.high)))
    return st.floats(parameter.low, min(3.0, parameter.high))


@st.composite
def some_settings(draw: st.DrawFn, names: tuple[str, ...] = (*OTHERS, *PARAMETERS)) -> Any:
    """Everything off but a few settings, which may be anything."""
    changed = draw(st.lists(st.sampled_from(names), min_size=1, max_size=6, unique=True))
    return NEUTRAL.replace(**{name: draw(values_of(name)) for name in changed})


ANY_SETTINGS = some_settings()


@st.composite
def situations(draw: st.DrawFn, size: int) -> Situation:
    """Where a draw from a vocabulary of a size may stand."""
    prefix = draw(st.lists(st.integers(0, 5), max_size=20))
    mask = np.random.default_rng(draw(st.integers(0, 99))).random(size) < 0.7
    return Situation(
        prefix=prefix,
        prompt_length=draw(st.integers(0, len(prefix))),
        eos_ids=(EOS,),
        chance=draw(st.floats(0, 1, exclude_max=True)),
        mu=draw(st.none() | st.floats(0, 20)),
        words=Letters(),
        constraint=Allows(draw(st.sampled_from([None, mask]))),
    )


@st.composite
def cases(
    draw: st.DrawFn, settings: st.SearchStrategy[Any] = ANY_SETTINGS
) -> tuple[np.ndarray, Situation, SamplerSettings]:
    values = draw(logits | huge)
    return values, draw(situations(len(values))), draw(settings)


def run(logits: np.ndarray, situation: Situation, chosen: SamplerSettings) -> Trace:
    """The chain; that what bans everything is refused is another test's matter."""
    try:
        return run_chain(raw_candidates(logits), situation, chosen)
    except DistributionError:
        assume(False)
        raise


@given(cases())
def test_something_survives_and_sums_to_one(case) -> None:
    logits, situation, chosen = case
    for outcome in run(logits, situation, chosen).outcomes:
        assert len(outcome.after) >= 1
        assert outcome.after.probabilities.sum() == pytest.approx(1.0, abs=1e-9)
        assert outcome.after.entropy_bits >= 0


@given(cases())
def test_the_input_is_never_touched(case) -> None:
    logits, situation, chosen = case
    logits_before, prefix_before = logits.copy(), list(situation.prefix)
    raw = raw_candidates(logits)
    ids, scores = raw.ids.copy(), raw.logits.copy()
    trace = run(logits, situation, chosen)
    allowed = situation.constraint.allowed if situation.constraint else None
    allowed_before = None if allowed is None else allowed.copy()
    again = run_chain(raw, situation, chosen)
    assert (logits == logits_before).all()
    assert situation.prefix == prefix_before
    assert (raw.ids == ids).all()
    assert (raw.logits == scores).all()
    assert allowed is None or (allowed == allowed_before).all()
    for once, twice in zip(trace.outcomes, again.outcomes, strict=True):
        assert once.after.ids.tolist() == twice.after.ids.tolist()
        assert once.after.logits.tolist() == twice.after.logits.tolist()
        assert (once.skipped, once.note) == (twice.skipped, twice.note)


@given(cases())
def test_a_stage_only_cuts_or_reshapes_as_its_record_says(case) -> None:
    logits, situation, chosen = case
    trace = run(logits, situation, chosen)
    left = trace.raw
    for outcome in trace.outcomes:
        before, after = outcome.before, outcome.after
        assert before is left
        where, here = before.locate(after.ids)
        assert here.all()
        if outcome.name not in RESHAPES:
            assert (after.logits == before.logits[where]).all()
            assert (len(after) < len(before)) == (outcome.skipped is None)
        if outcome.skipped is not None:
            assert len(after) == len(before)
            assert after.probabilities.tolist() == before.probabilities.tolist()
        kept = before.probabilities_of(after.ids).sum()
        assert kept + outcome.mass_cut == pytest.approx(1.0, abs=1e-9)
        numbers = [value for value in outcome.figures.values() if not isinstance(value, str)]
        assert np.isfinite(numbers).all()
        left = after


@given(cases(), st.data())
def test_switching_a_stage_off_equals_removing_it(case, data) -> None:
    logits, situation, chosen = case
    assume(len(chosen.chain) > 1)
    stage = data.draw(st.sampled_from(chosen.chain))
    others = tuple(name for name in chosen.chain if name != stage)
    switched_off = run(logits, situation, chosen.replace(off=(stage,)))
    removed = run(logits, situation, chosen.replace(off=(), stages=others))
    assert switched_off.final.ids.tolist() == removed.final.ids.tolist()
    assert switched_off.final.logits.tolist() == removed.final.logits.tolist()
    says = next(outcome.skipped for outcome in switched_off.outcomes if outcome.name == stage)
    assert says == "off: switched off"


@given(cases())
def test_who_was_cut_by_whom_agrees_with_the_final_probabilities(case) -> None:
    logits, situation, chosen = case
    trace = run(logits, situation, chosen)
    after = trace.probabilities_after(trace.raw.ids)
    cut_by = trace.cut_by(trace.raw.ids)
    for index, token_id in enumerate(trace.raw.ids.tolist()):
        survived = trace.final.find(token_id) is not None
        assert (cut_by[index] is None) == survived
        assert survived or after[-1, index] == 0.0


OF_THE_STAGE: dict[str, tuple[str, ...]] = {
    "logit_bias": ("logit_bias",),
    "bad_words": ("bad_words",),
    "grammar": ("grammar",),
}
for parameter in PARAMETERS.values():
    OF_THE_STAGE[parameter.stage] = (*OF_THE_STAGE.get(parameter.stage, ()), parameter.name)


@pytest.mark.parametrize("name", sorted(STAGES))
@given(data=st.data())
@settings(max_examples=30)
def test_every_stage_can_stand_alone(name, data) -> None:
    logits, situation, values = data.draw(cases(some_settings(OF_THE_STAGE[name])))
    trace = run(logits, situation, values.replace(stages=(name,)))
    assert [outcome.name for outcome in trace.outcomes] == [name]


def test_both_orders_hold_every_stage_once() -> None:
    for order in ORDERS.values():
        assert sorted(order) == sorted(STAGES)


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
