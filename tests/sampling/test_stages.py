"""Every stage against distributions small enough to work out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.sampling.chains import OFF, P, chain, final, outcome
from tokenloop.errors import DistributionError, SettingError
from tokenloop.sampling import (
    Candidates,
    SamplerSettings,
    Situation,
    raw_candidates,
    run_chain,
)

BOTH = pytest.mark.parametrize("order", ["llamacpp", "transformers"])


@BOTH
def test_everything_off_leaves_the_models_distribution(order: str) -> None:
    trace = chain(order=order)
    assert final(trace) == pytest.approx(dict(enumerate(P)), abs=1e-6)
    assert all(outcome.skipped for outcome in trace.outcomes)
    assert trace.raw.entropy_bits == pytest.approx(1.7427376486, abs=1e-6)


@BOTH
def test_top_k_keeps_the_two_best(order: str) -> None:
    trace = chain(top_k=2, order=order)
    assert final(trace) == pytest.approx({0: 2 / 3, 1: 1 / 3}, abs=1e-6)
    assert outcome(trace, "top_k").mass_cut == pytest.approx(0.25, abs=1e-6)
    assert outcome(trace, "top_k").after.entropy_bits == pytest.approx(0.9182958, abs=1e-6)
    assert trace.cut_by(trace.raw.ids) == [None, None, "top_k", "top_k"]


def test_top_k_ties_llamacpp_keeps_exactly_k_lowest_id_first() -> None:
    assert set(final(chain(p=(0.2, 0.4, 0.2, 0.2), top_k=2))) == {0, 1}


def test_top_k_ties_transformers_keeps_what_ties_with_the_kth() -> None:
    trace = chain(p=(0.2, 0.4, 0.2, 0.2), top_k=2, order="transformers")
    assert set(final(trace)) == {0, 1, 2, 3}


@pytest.mark.parametrize("k", [0, 4, 5, 1_000_000])
def test_top_k_zero_or_the_whole_vocabulary_is_off(k: int) -> None:
    trace = chain(top_k=k)
    assert len(trace.final) == 4
    assert outcome(trace, "top_k").skipped.startswith("off")


@BOTH
@pytest.mark.parametrize(
    ("p", "survivors"),
    [(0.0, {0}), (0.4, {0}), (0.6, {0, 1}), (0.8, {0, 1, 2}), (0.95, {0, 1, 2, 3})],
)
def test_top_p_keeps_the_smallest_set_and_the_crossing_token(
    order: str, p: float, survivors: set[int]
) -> None:
    assert set(final(chain(top_p=p, order=order))) == survivors


def test_top_p_reached_exactly_takes_no_more() -> None:
    assert set(final(chain(p=(0.5, 0.25, 0.125, 0.125), top_p=0.75))) == {0, 1}


def test_top_p_works_on_what_top_k_left() -> None:
    # Of the two best, the first alone has 2/3 ≥ 0.6; of all four it has only 0.5.
    assert set(final(chain(top_k=2, top_p=0.6))) == {0}
    assert set(final(chain(top_p=0.6))) == {0, 1}


@BOTH
@pytest.mark.parametrize(
    ("m", "survivors"), [(0.19, {0, 1, 2, 3}), (0.25, {0, 1, 2}), (0.4, {0, 1}), (1.0, {0})]
)
def test_min_p_is_relative_to_the_best(order: str, m: float, survivors: set[int]) -> None:
    assert set(final(chain(min_p=m, order=order))) == survivors


@BOTH
def test_temperature_one_half_squares_the_odds(order: str) -> None:
    trace = chain(temperature=0.5, order=order)
    squares = np.array(P) ** 2
    expected = dict(enumerate((squares / squares.sum()).tolist()))
    assert final(trace) == pytest.approx(expected, abs=1e-6)


def test_order_matters_temperature_before_the_nucleus_narrows_it() -> None:
    # p² = 0.25 0.0625 0.0225 0.01 of 0.345: the best alone has 0.725 ≥ 0.7 only when sharpened.
    settings = {"temperature": 0.5, "top_p": 0.7}
    assert set(final(chain(order="transformers", **settings))) == {0}
    assert set(final(chain(order="llamacpp", **settings))) == {0, 1}


@BOTH
def test_temperature_zero_is_greedy_and_says_so(order: str) -> None:
    trace = chain(temperature=0.0, order=order)
    assert final(trace) == {0: 1.0}
    assert "greedy" in outcome(trace, "temperature").note


def test_greedy_takes_the_lowest_id_among_equals() -> None:
    assert final(chain(p=(0.1, 0.4, 0.4, 0.1), temperature=0.0)) == {1: 1.0}


@pytest.mark.parametrize("t", [5e-324, 1e-40, 1e-3, 100.0])
def test_extreme_temperatures_make_no_nan(t: float) -> None:
    trace = chain(temperature=t)
    assert np.isfinite(trace.final.probabilities).all()
    assert trace.final.probabilities.sum() == pytest.approx(1.0)
    assert trace.final.ids[trace.final.best(1)[0]] == 0


@BOTH
def test_repetition_divides_positive_and_multiplies_negative_logits(order: str) -> None:
    raw = raw_candidates(np.array([2.0, -2.0, 1.0], dtype=np.float32))
    settings = SamplerSettings(order=order, repeat_penalty=2.0, **OFF)
    trace = run_chain(raw, Situation([0, 1]), settings)
    assert trace.final.logits.tolist() == [1.0, -4.0, 1.0]


def test_frequency_counts_and_presence_does_not() -> None:
    raw = raw_candidates(np.array([2.0, 2.0, 2.0], dtype=np.float32))
    settings = SamplerSettings(frequency_penalty=0.5, presence_penalty=0.25, **OFF)
    trace = run_chain(raw, Situation([0, 1, 0, 0]), settings)
    assert trace.final.logits.tolist() == [2 - 1.5 - 0.25, 2 - 0.5 - 0.25, 2.0]


def test_the_window_is_the_orders_own_unless_set() -> None:
    prefix = tuple([1] + [0] * 64)
    llamacpp = chain(prefix=prefix, repeat_penalty=2.0)
    transformers = chain(prefix=prefix, repeat_penalty=2.0, order="transformers")
    assert outcome(llamacpp, "penalties").values["last_n"] == 64
    assert outcome(transformers, "penalties").values["last_n"] == 65
    assert llamacpp.final.logits[1] == llamacpp.raw.logits[1]
    assert transformers.final.logits[1] == 2 * transformers.raw.logits[1]


@pytest.mark.parametrize(("last_n", "penalised"), [(0, []), (1, [2]), (2, [1, 2]), (-1, [0, 1, 2])])
def test_a_set_window_counts_from_the_end(last_n: int, penalised: list[int]) -> None:
    trace = chain(prefix=(0, 1, 2), repeat_penalty=2.0, repeat_last_n=last_n)
    changed = np.flatnonzero(trace.final.logits != trace.raw.logits)
    assert changed.tolist() == penalised


def test_bias_adds_and_minus_infinity_bans() -> None:
    trace = chain(logit_bias={1: math.log(4), 0: -math.inf})
    assert final(trace) == pytest.approx({1: 0.8, 2: 0.12, 3: 0.08}, abs=1e-6)
    assert trace.cut_by(trace.raw.ids)[0] == "logit_bias"


def test_bias_on_an_id_outside_the_vocabulary_is_refused_by_name() -> None:
    with pytest.raises(SettingError, match=r"logit_bias = 9 .* ids from 0 to 3"):
        chain(logit_bias={9: 1.0})


def test_banning_everything_names_the_stage() -> None:
    with pytest.raises(DistributionError, match="logit_bias leaves no candidate"):
        chain(logit_bias=dict.fromkeys(range(4), -math.inf))


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_bad_logits_name_the_token(bad: float) -> None:
    with pytest.raises(DistributionError, match="token 2"):
        raw_candidates(np.array([0.0, 1.0, bad], dtype=np.float32))


def test_no_finite_logit_is_refused() -> None:
    with pytest.raises(DistributionError, match="no token"):
        raw_candidates(np.full(3, -np.inf, dtype=np.float32))


@pytest.mark.filterwarnings("error")
def test_an_enormous_penalty_makes_sigma_infinite_without_a_warning() -> None:
    left = Candidates(np.array([0, 1]), np.array([0.0, -1e200]))
    settings = SamplerSettings(stages=("top_n_sigma",), top_n_sigma=1.0)
    assert len(run_chain(left, Situation(), settings).final) == 2
