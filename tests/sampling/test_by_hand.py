"""The stages that need no history, worked out by hand: llama.cpp's definitions, and others'.

Of P = 0.5, 0.25, 0.15, 0.1 the surprises are 0.6931, 1.3863, 1.8971, 2.3026 nats, the entropy is
1.2080 nats.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.sampling.chains import P, chain, chain_on, final, outcome
from tokenloop.sampling import ORDERS, Situation, Trace


def assert_weights(trace: Trace, weights: np.ndarray, **tolerance: float) -> None:
    """What is drawn from is in proportion to these."""
    expected = (weights / weights.sum()).tolist()
    assert list(final(trace).values()) == pytest.approx(expected, **tolerance)


BOTH = pytest.mark.parametrize("order", sorted(ORDERS))


# --- typical-p: the distances from the entropy are 0.5148, 0.1783, 0.6891, 1.0946 ---------------


@BOTH
@pytest.mark.parametrize(
    ("p", "kept"), [(0.2, {1}), (0.3, {1, 0}), (0.76, {1, 0, 2}), (0.95, {1, 0, 2, 3})]
)
def test_typical_p_adds_up_from_the_expected_surprise_outwards(order, p, kept) -> None:
    assert set(final(chain(typical_p=p, order=order))) == kept


def test_typical_p_may_cut_the_best_one() -> None:
    trace = chain(typical_p=0.2)
    assert trace.cut_by(trace.raw.ids) == ["typical_p", None, "typical_p", "typical_p"]
    assert outcome(trace, "typical_p").figures == pytest.approx(
        {"entropy_nats": 1.207974, "farthest_nats": 0.178320}, abs=1e-5
    )


def test_typical_ps_bound_llamacpp_must_pass_it_transformers_reach_it_and_keeps_ties() -> None:
    # Four equal ones, all at distance 0: after two the sum is exactly 0.5.
    four = np.zeros(4, dtype=np.float32)
    assert set(final(chain_on(four, typical_p=0.5))) == {0, 1, 2}
    assert set(final(chain_on(four, order="transformers", typical_p=0.5))) == {0, 1, 2, 3}
    assert set(final(chain_on(four, typical_p=0.49))) == {0, 1}


def test_typical_p_of_zero_keeps_the_nearest() -> None:
    assert set(final(chain(typical_p=0.0))) == {1}
    assert set(final(chain(typical_p=0.0, order="transformers"))) == {1}


@BOTH
def test_typical_p_leaves_the_min_keep_nearest(order) -> None:
    assert set(final(chain(typical_p=0.2, min_keep=3, order=order))) == {1, 0, 2}


def test_typical_p_says_which_bound_is_active() -> None:
    says = {order: outcome(chain(order=order), "typical_p").definition for order in ORDERS}
    assert "above p" in says["llamacpp"]
    assert "at least p" in says["transformers"]


# --- top-n-sigma: σ of the four logits is 0.6013 ------------------------------------------------


@BOTH
@pytest.mark.parametrize(("n", "kept"), [(1.0, {0}), (1.5, {0, 1}), (2.5, {0, 1, 2})])
def test_top_n_sigma_keeps_what_is_within_n_population_sigmas(order, n, kept) -> None:
    trace = chain(top_n_sigma=n, order=order)
    assert set(final(trace)) == kept
    assert outcome(trace, "top_n_sigma").figures["sigma"] == pytest.approx(0.60132, abs=1e-4)


@pytest.mark.parametrize("t", [0.25, 3.0])
def test_top_n_sigma_keeps_the_same_whatever_temperature_stood_before(t: float) -> None:
    assert set(final(chain(top_n_sigma=1.5, temperature=t, order="transformers"))) == {0, 1}


def test_top_n_sigma_looks_at_those_that_entered_it() -> None:
    # Without the last the spread is 0.4930: 0.25 lies within 1.5 of it, 0.15 does not.
    logits = np.log(np.array([*P, 1e-12])).astype(np.float32)
    assert set(final(chain_on(logits, top_n_sigma=1.0))) == {0, 1, 2, 3}
    stages = ("top_k", "top_n_sigma")
    trace = chain_on(logits, top_n_sigma=1.5, top_k=3, stages=stages)
    assert outcome(trace, "top_n_sigma").figures["sigma"] == pytest.approx(0.49349, abs=1e-4)
    assert set(final(trace)) == {0, 1}


def test_top_n_sigma_of_equal_logits_keeps_them_all() -> None:
    assert len(chain_on(np.full(9, 3.7, dtype=np.float32), top_n_sigma=0.1).final) == 9


# --- top-a: 0.5 · a is what the best one asks for -----------------------------------------------


@BOTH
@pytest.mark.parametrize(("a", "kept"), [(0.3, 4), (0.5, 3), (0.7, 2), (1.0, 2)])
def test_top_a_asks_for_a_times_the_best_squared(order, a, kept) -> None:
    # 0.075, 0.125, 0.175, 0.25
    p = (0.5, 0.2501, 0.15, 0.0999)
    trace = chain(p=p, top_a=a, order=order)
    assert len(trace.final) == kept
    assert outcome(trace, "top_a").figures["least_p"] == pytest.approx(a * 0.25, abs=1e-6)


def test_top_a_leaves_min_keep() -> None:
    assert set(final(chain(top_a=1.0, min_keep=3))) == {0, 1, 2}


# --- epsilon, eta -------------------------------------------------------------------------------


@BOTH
def test_epsilon_drops_what_has_less(order) -> None:
    assert final(chain(epsilon_cutoff=0.12, order=order)) == pytest.approx(
        {0: 0.5 / 0.9, 1: 0.25 / 0.9, 2: 0.15 / 0.9}, abs=1e-6
    )


@BOTH
def test_the_best_and_its_equals_outlive_epsilon(order) -> None:
    many = np.zeros(1000, dtype=np.float32)
    many[:3] = 1e-3
    assert set(final(chain_on(many, order=order, epsilon_cutoff=0.9))) == {0, 1, 2}


@BOTH
def test_eta_cuts_nothing_where_all_are_equal(order) -> None:
    assert (
        len(chain_on(np.zeros(1000, dtype=np.float32), order=order, eta_cutoff=0.9).final) == 1000
    )


@BOTH
@pytest.mark.parametrize(
    ("epsilon", "eta", "kept"),
    # √ε · e^−1.2080, e^−1.2080 = 0.29880
    [(0.3, 0.16366, {0, 1}), (0.2, 0.13363, {0, 1, 2}), (0.05, 0.05, {0, 1, 2, 3})],
)
def test_eta_is_epsilon_or_lower_where_the_entropy_is_high(order, epsilon, eta, kept) -> None:
    trace = chain(eta_cutoff=epsilon, order=order)
    assert set(final(trace)) == kept
    assert outcome(trace, "eta_cutoff").figures["eta"] == pytest.approx(eta, abs=1e-4)


@pytest.mark.parametrize("setting", ["epsilon_cutoff", "eta_cutoff", "min_p", "top_a"])
def test_min_keep_of_the_best_stay(setting) -> None:
    p = (0.05, 0.9, 0.03, 0.02)
    assert set(final(chain(p=p, min_keep=3, **{setting: 0.9}))) == {0, 1, 2}


def test_min_keep_beyond_the_vocabulary_cuts_nothing() -> None:
    for setting, value in {"top_p": 0.1, "min_p": 0.9, "typical_p": 0.1, "top_a": 1.0}.items():
        assert len(chain(min_keep=99, **{setting: value}).final) == 4, setting


def test_top_p_leaves_min_keep_and_says_so() -> None:
    trace = chain(top_p=0.1, min_keep=3)
    assert set(final(trace)) == {0, 1, 2}
    assert outcome(trace, "top_p").values == {"p": 0.1, "min_keep": 3}


def test_top_k_below_min_keep_is_llamacpps_k_and_transformers_min_keep() -> None:
    assert len(chain(top_k=1, min_keep=3).final) == 1
    assert len(chain(top_k=1, min_keep=3, order="transformers").final) == 3


# --- XTC ----------------------------------------------------------------------------------------

XTC = {"xtc_probability": 0.5, "xtc_threshold": 0.2}


def xtc(chance: float, order: str = "llamacpp", **settings):
    return chain(order=order, situation=Situation(chance=chance), **{**XTC, **settings})


@BOTH
def test_xtc_drops_the_top_choices_but_the_least_likely_of_them(order) -> None:
    trace = xtc(0.3, order)
    assert final(trace) == pytest.approx({1: 0.5, 2: 0.3, 3: 0.2}, abs=1e-6)
    assert outcome(trace, "xtc").figures == {"chance": 0.3, "excluded": 1}
    assert outcome(trace, "xtc").note == "by chance: 0.30 < 0.5, 1 excluded"


def test_xtc_acts_only_where_this_rolls_chance_lets_it() -> None:
    assert len(xtc(0.499).final) == 3
    trace = xtc(0.5)
    assert len(trace.final) == 4
    assert outcome(trace, "xtc").skipped == "by chance: 0.50 is not below 0.5"
    assert outcome(trace, "xtc").figures == {"chance": 0.5, "excluded": 0}


def test_xtc_of_probability_one_always_acts() -> None:
    assert len(xtc(math.nextafter(1, 0), xtc_probability=1.0).final) == 3


@pytest.mark.parametrize("chance", [0.0, 0.9])
@pytest.mark.parametrize(
    ("settings", "decides"),
    [
        ({}, True),
        ({"xtc_probability": 1.0}, False),
        ({"xtc_threshold": 0.3}, False),
        ({"min_keep": 4}, False),
        ({"temperature": 0.0}, True),
        ({"temperature": 0.0, "order": "transformers"}, False),
        ({"off": ("xtc",)}, False),
    ],
)
def test_xtc_names_its_chance_only_where_it_decides(chance, settings, decides) -> None:
    assert ("chance" in outcome(xtc(chance, **settings), "xtc").figures) is decides


@pytest.mark.parametrize(("threshold", "says"), [(0.3, "one has p ≥ 0.3"), (0.5, "has p ≥ 0.5")])
def test_xtc_with_fewer_than_two_top_choices_does_nothing(threshold, says) -> None:
    trace = xtc(0.0, xtc_threshold=threshold)
    assert len(trace.final) == 4
    assert says in outcome(trace, "xtc").skipped


def test_xtc_above_one_half_is_off() -> None:
    trace = xtc(0.0, xtc_threshold=0.51)
    assert outcome(trace, "xtc").skipped == "off: threshold above 0.5"


def test_xtc_at_threshold_zero_leaves_the_last_one() -> None:
    assert set(final(xtc(0.0, xtc_threshold=0.0))) == {3}


def test_xtc_that_would_leave_fewer_than_min_keep_drops_nothing() -> None:
    assert len(xtc(0.0, min_keep=3).final) == 3
    trace = xtc(0.0, min_keep=4)
    assert len(trace.final) == 4
    assert "fewer than 4" in outcome(trace, "xtc").skipped


def test_xtc_keeps_the_last_of_equals_in_the_order_of_the_draw() -> None:
    trace = chain(
        p=(0.3, 0.3, 0.3, 0.1),
        situation=Situation(chance=0.0),
        xtc_probability=1.0,
        xtc_threshold=0.25,
    )
    assert set(final(trace)) == {2, 3}


# --- smoothing: below the best by 0, 0.6931, 1.2040, 1.6094 -------------------------------------


@BOTH
def test_smoothing_is_a_parabola(order) -> None:
    trace = chain(smoothing_factor=1.0, order=order)
    assert final(trace) == pytest.approx({0: 0.51862, 1: 0.32077, 2: 0.12173, 3: 0.03888}, abs=1e-4)


@BOTH
def test_smoothings_curve_adds_a_cubic_part(order) -> None:
    # c = 2: −f · (d²/2 + |d|³/2)
    below = np.array([0, math.log(0.5), math.log(0.3), math.log(0.2)])
    weights = np.exp(-0.4 * (below**2 / 2 - below**3 / 2))
    trace = chain(smoothing_factor=0.4, smoothing_curve=2.0, order=order)
    assert list(final(trace).values()) == pytest.approx(
        (weights / weights.sum()).tolist(), abs=1e-6
    )


def test_smoothing_leaves_the_best_logit_where_it_is() -> None:
    trace = chain(smoothing_factor=0.4, smoothing_curve=2.0)
    assert trace.final.logits.max() == pytest.approx(math.log(0.5), abs=1e-6)


def test_a_curve_above_three_lifts_the_next_above_the_best_and_says_so() -> None:
    trace = chain(p=(0.4, 0.35, 0.15, 0.1), smoothing_factor=1.0, smoothing_curve=6.0)
    assert max(final(trace), key=lambda i: final(trace)[i]) == 1
    assert "lifts" in outcome(trace, "smoothing").note


# --- temperature, dynamic -----------------------------------------------------------------------


@BOTH
def test_dynamic_temperature_follows_the_part_of_the_entropy_that_is_possible(order) -> None:
    # 1.20797 / ln 4 = 0.87137: T = 0.5 + 1 · 0.87137
    trace = chain(dynatemp_range=0.5, order=order)
    assert outcome(trace, "dynamic_temperature").figures == pytest.approx(
        {"t": 1.37137, "part": 0.87137}, abs=1e-4
    )
    weights = np.array(P) ** (1 / 1.37137)
    assert list(final(trace).values()) == pytest.approx(
        (weights / weights.sum()).tolist(), abs=1e-4
    )


def test_dynamic_temperatures_exponent_bends_the_way_and_lo_ends_at_zero() -> None:
    trace = chain(temperature=0.5, dynatemp_range=2.0, dynatemp_exponent=2.0)
    figures = outcome(trace, "dynamic_temperature").figures
    assert figures["t"] == pytest.approx(2.5 * 0.87137**2, abs=1e-4)


@BOTH
def test_dynamic_temperature_divides_in_temperatures_place(order) -> None:
    trace = chain(temperature=0.7, dynatemp_range=0.5, order=order)
    says = "off: dynamic temperature divides in its place"
    assert outcome(trace, "temperature").skipped == says
    assert outcome(trace, "dynamic_temperature").skipped is None


def test_a_dynamic_temperature_switched_off_leaves_it_to_temperature() -> None:
    trace = chain(temperature=0.5, dynatemp_range=0.5, off=("dynamic_temperature",))
    weights = np.array(P) ** 2
    assert list(final(trace).values()) == pytest.approx(
        (weights / weights.sum()).tolist(), abs=1e-6
    )


def test_dynamic_temperature_of_one_candidate_has_no_effect() -> None:
    trace = chain(dynatemp_range=0.5, top_k=1)
    assert outcome(trace, "dynamic_temperature").skipped == "one candidate is left"


def test_dynamic_temperature_of_a_sure_thing_keeps_only_it() -> None:
    # No entropy at all, lo = 0: T = 0.
    logits = np.array([0.0, 5000.0, 0.0], dtype=np.float32)
    trace = chain_on(logits, temperature=0.5, dynatemp_range=1.0)
    assert outcome(trace, "dynamic_temperature").figures["t"] == 0
    assert final(trace) == {1: 1.0}


def test_greedy_stays_greedy_with_a_dynamic_temperature() -> None:
    trace = chain(temperature=0.0, dynatemp_range=0.5)
    assert final(trace) == {0: 1.0}
    assert "greedy" in outcome(trace, "dynamic_temperature").skipped


# --- greedy: what still matters -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("setting", "value"),
    [("top_k", 2), ("top_p", 0.6), ("min_p", 0.4), ("top_n_sigma", 1.5), ("top_a", 0.7),
     ("epsilon_cutoff", 0.2), ("eta_cutoff", 0.3)],
)  # fmt: skip
def test_greedy_says_of_a_cut_below_the_best_that_it_cannot_matter(setting, value) -> None:
    trace = chain(temperature=0.0, **{setting: value})
    assert final(trace) == {0: 1.0}
    note = outcome(trace, setting).note
    assert note is not None
    # η has a figure of its own to tell
    assert setting == "eta_cutoff" or note == "greedy: the best one stays, whatever this cuts"


def test_greedy_says_of_typical_p_and_xtc_that_they_matter() -> None:
    trace = chain(temperature=0.0, typical_p=0.2)
    assert final(trace) == {1: 1.0}
    assert "matters" in outcome(trace, "typical_p").note
    trace = xtc(0.3, temperature=0.0)
    assert final(trace) == {1: 1.0}
    assert "matters" in outcome(xtc(0.9, temperature=0.0), "xtc").note


@pytest.mark.parametrize("name", ["top_p", "xtc", "typical_p"])
def test_after_greedy_took_the_best_every_stage_says_that_one_is_left(name) -> None:
    settings = {"top_p": 0.5, "typical_p": 0.5, **XTC}
    trace = chain(temperature=0.0, order="transformers", **settings)
    assert outcome(trace, name).skipped == "one candidate is left"
    assert outcome(trace, name).before is outcome(trace, "temperature").after


# --- mirostat: surprises of 1, 2, 2.737, 3.322 bits ---------------------------------------------


@BOTH
@pytest.mark.parametrize(("mu", "kept"), [(0.5, {0}), (1.5, {0}), (2.1, {0, 1}), (3.0, {0, 1, 2})])
def test_mirostat_drops_what_would_surprise_by_more_than_mu(order, mu, kept) -> None:
    trace = chain(mirostat=2, situation=Situation(mu=mu), order=order)
    assert set(final(trace)) == kept
    assert outcome(trace, "mirostat").figures == {"mu": mu}


def test_mirostat_begins_at_twice_tau() -> None:
    trace = chain(mirostat=2, mirostat_tau=1.4)
    assert set(final(trace)) == {0, 1, 2}
    assert outcome(trace, "mirostat").figures == {"mu": 2.8}


CUTS = {"top_n_sigma": 1.0, "top_k": 2, "typical_p": 0.5, "top_p": 0.5, "min_p": 0.5, "top_a": 1.0,
        "epsilon_cutoff": 0.2, "eta_cutoff": 0.5, "xtc_probability": 1.0}  # fmt: skip


def test_mirostat_cuts_in_place_of_the_others_in_llamacpps_order() -> None:
    trace = chain(mirostat=2, dynatemp_range=0.5, temperature=0.8, **CUTS)
    for name in CUTS:
        stage = outcome(trace, name.removesuffix("_probability"))
        assert stage.skipped == "off: mirostat cuts in its place"
    assert "plain temperature" in outcome(trace, "dynamic_temperature").skipped
    assert outcome(trace, "temperature").skipped is None
    assert "only cut" in outcome(trace, "mirostat").definition


def test_mirostat_cuts_beside_the_others_in_transformers_order() -> None:
    trace = chain(mirostat=2, top_k=2, order="transformers", situation=Situation(mu=1.5))
    assert trace.cut_by(trace.raw.ids) == [None, "mirostat", "top_k", "top_k"]
    assert "beside" in outcome(trace, "mirostat").definition


@pytest.mark.parametrize("off", [{"mirostat": 0}, {"off": ("mirostat",)}, {"temperature": 0.0}])
def test_the_cuts_act_where_mirostat_does_not(off) -> None:
    trace = chain(**{"mirostat": 2, "top_k": 2, **off})
    assert outcome(trace, "top_k").skipped is None
