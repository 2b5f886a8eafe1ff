"""Mirostat's memory, chance, stage orders and the prompt's length, wherever a session is taken."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.session.conftest import OPEN
from tokenloop.errors import DistributionError, SessionError, SettingError
from tokenloop.sampling import ORDERS, SamplerSettings, uniform
from tokenloop.session import Session
from tokenloop.session.passes import common_prefix
from tokenloop.session.situations import prompt_length_after

if TYPE_CHECKING:
    from tokenloop_models.model import Model

MIROSTAT = OPEN.replace(mirostat=2, mirostat_tau=3.0, mirostat_eta=0.5)


def mu(session: Session) -> float:
    stage = next(stage for stage in session.held.stages if stage.name == "mirostat")
    return stage.figures["mu"]


@pytest.fixture
def steered(session: Session) -> Session:
    session.configure(MIROSTAT)
    return session


# --- mirostat ------------------------------------------------------------------------------------


def test_mu_begins_at_two_tau_and_moves_with_each_draw(steered: Session) -> None:
    expected = 6.0
    for _ in range(5):
        assert mu(steered) == pytest.approx(expected)
        drawn = steered.step().chosen
        expected -= 0.5 * (-math.log2(drawn.final_p) - 3.0)
    assert mu(steered) != 6.0


def test_a_rewind_restores_mu_and_the_same_draws(steered: Session) -> None:
    seen, ids = [], []
    for _ in range(6):
        seen.append(mu(steered))
        ids.append(steered.step().token.id)
    steered.rewind(6)
    for place in range(6):
        assert mu(steered) == seen[place]
        assert steered.step().token.id == ids[place]
    steered.rewind_to(len(steered.ids) - 3)
    assert mu(steered) == seen[3]


def test_each_branch_has_its_own_mu(steered: Session) -> None:
    fork = len(steered.ids)
    first = [steered.step().token.id for _ in range(3)]
    there = mu(steered)
    steered.rewind_to(fork)
    other = next(c.id for c in steered.held.candidates if c.id != first[0])
    steered.force(other)
    assert mu(steered) == 6.0
    steered.step()
    steered.rewind_to(fork)
    assert [steered.step().token.id for _ in range(3)] == first
    assert mu(steered) == there


def test_given_and_forced_tokens_and_greedy_do_not_move_mu(steered: Session) -> None:
    steered.step()
    moved = mu(steered)
    steered.force(steered.held.candidates[0].id)
    assert mu(steered) == moved
    steered.type(" and on")
    assert mu(steered) == moved
    steered.configure(MIROSTAT.replace(temperature=0))
    steered.step()
    steered.configure(MIROSTAT)
    assert mu(steered) == moved


def test_a_switched_off_mirostat_stands_still(steered: Session) -> None:
    steered.step()
    moved = mu(steered)
    steered.configure(MIROSTAT.replace(off=("mirostat",)))
    steered.step()
    steered.configure(MIROSTAT)
    assert mu(steered) == moved


def test_with_another_tau_mu_begins_anew_and_the_old_one_comes_back(steered: Session) -> None:
    steered.step()
    moved = mu(steered)
    steered.configure(MIROSTAT.replace(mirostat_tau=4.0))
    assert mu(steered) == 8.0
    steered.configure(MIROSTAT)
    assert mu(steered) == moved


def test_sweeps_and_comparisons_know_that_too(steered: Session) -> None:
    steered.step()
    held = mu(steered)
    record = steered.compare(("a", MIROSTAT), ("b", MIROSTAT.replace(mirostat_tau=4.0)))
    figures = [
        next(stage for stage in side.stages if stage.name == "mirostat").figures["mu"]
        for side in (record.left, record.right)
    ]
    assert figures == [held, 8.0]
    points = steered.sweep("mirostat_tau", points=11).points
    steered.configure(MIROSTAT.replace(mirostat_tau=1.0))
    there = next(point for point in points if point.value == 1.0)
    assert there.survivors == steered.held.stages[-1].survivors


# --- chance --------------------------------------------------------------------------------------

XTC = OPEN.replace(xtc_probability=0.5, xtc_threshold=1e-6)


def acted(session: Session) -> bool:
    return next(s for s in session.held.stages if s.name == "xtc").skipped is None


def test_greedy_is_rolled_again_where_xtcs_chance_decides(session: Session) -> None:
    session.configure(XTC.replace(temperature=0))
    seen = {acted(session): session.held.chosen.id}
    for _ in range(12):
        session.roll()
        seen[acted(session)] = session.held.chosen.id
    assert seen[True] != seen[False]
    session.step()
    assert session.resample().draw.attempt == 13


@pytest.mark.parametrize("changes", [{"xtc_probability": 1.0}, {"order": "transformers"}])
def test_greedy_is_not_rolled_where_every_attempt_is_the_same(
    session: Session, changes: dict[str, object]
) -> None:
    session.configure(XTC.replace(temperature=0, **changes))
    with pytest.raises(SessionError, match="greedy"):
        session.roll()


def test_xtc_acts_by_each_attempts_own_chance_and_the_same_each_time(session: Session) -> None:
    session.configure(XTC)
    position = len(session.ids)
    seen = [acted(session)]
    for _ in range(30):
        session.roll()
        seen.append(acted(session))
    assert seen == [uniform(3, position, attempt, stream=1) < 0.5 for attempt in range(31)]
    assert len(set(seen)) == 2
    session.configure(OPEN)
    session.configure(XTC)
    assert acted(session) == seen[-1]


# --- orders --------------------------------------------------------------------------------------


def test_an_own_order_and_what_is_off_survive_everything(session: Session) -> None:
    stages = ("temperature", "min_p", "top_k", "penalties", "xtc")
    settings = OPEN.replace(stages=stages, off=("min_p", "xtc"), top_k=30, min_p=0.2)
    session.configure(settings)

    def holds() -> None:
        assert session.settings == settings
        held = session.held.stages
        assert tuple(stage.name for stage in held) == stages
        assert [s.name for s in held if s.skipped == "off: switched off"] == ["min_p", "xtc"]

    for command in (
        session.step,
        session.roll,
        session.step,
        session.resample,
        session.rewind,
        lambda: session.edit(session.text + " more"),
        lambda: session.type("x"),
        lambda: session.reseed(9),
        lambda: session.show(5),
        lambda: session.open(session.encode("in the")),
        session.step,
        lambda: session.sweep("temperature", points=3),
        lambda: session.compare(("a", OPEN), ("b", SamplerSettings())),
    ):
        command()
        holds()
    assert session.look(len(session.ids) - 1).stages[0].name == "temperature"


def test_the_same_stages_in_the_traditions_order_are_the_tradition(session: Session) -> None:
    plain = session.held
    session.configure(OPEN.replace(stages=ORDERS["llamacpp"]))
    assert session.held == plain


# --- a stage that fails --------------------------------------------------------------------------


def test_a_stage_that_leaves_nothing_leaves_the_session_where_it_was(session: Session) -> None:
    session.step()
    before = session.snapshot()
    (eos,) = session.model.eos_ids
    banned = OPEN.replace(
        stages=("logit_bias", "top_k", "min_length"),
        logit_bias={eos: 500.0},
        top_k=1,
        min_new_tokens=9,
    )
    with pytest.raises(DistributionError, match="min_length leaves no candidate"):
        session.configure(banned)
    assert session.snapshot() == before


def test_a_step_into_a_place_where_nothing_is_left_is_refused(session: Session) -> None:
    # At the next position every token but one is cut first, and that one is then banned.
    session.configure(
        OPEN.replace(stages=("logit_bias", "top_k", "no_repeat_ngram"), logit_bias={50: 200.0})
    )
    session.step()
    session.configure(session.settings.replace(top_k=1, no_repeat_ngram_size=3))
    session.step()
    before = session.snapshot()
    with pytest.raises(DistributionError, match="no_repeat_ngram leaves no candidate"):
        session.step()
    after = session.snapshot()
    assert (after.prefix, after.choice, after.settings) == (
        before.prefix,
        before.choice,
        before.settings,
    )
    session.configure(OPEN)
    session.step()


def test_a_roll_that_is_refused_leaves_the_attempt(session: Session) -> None:
    session.roll()
    session.configure(OPEN.replace(temperature=0))
    before = session.snapshot()
    with pytest.raises(SessionError, match="greedy"):
        session.roll()
    assert session.snapshot() == before
    assert session.held.draw.attempt == 1


def test_settings_that_fit_no_vocabulary_are_refused_before_a_prompt_too(
    tiny_model: Model,
) -> None:
    pytest.importorskip("llguidance")
    from tokenloop.sampling import Grammar

    session = Session(tiny_model)
    with pytest.raises(SettingError, match="grammar"):
        session.configure(OPEN.replace(grammar=Grammar("regex", "(")))
    assert session.settings.grammar is None


# --- the prompt's length -------------------------------------------------------------------------

tokens = st.lists(st.integers(0, 2), max_size=12)
distinct = st.lists(st.integers(0, 10**6), unique=True, min_size=1, max_size=12)


@given(tokens, tokens, st.data())
def test_the_prompt_is_a_part_of_the_prefix(old: list[int], new: list[int], data) -> None:
    length = data.draw(st.integers(0, len(old)))
    found = prompt_length_after(old, new, length)
    assert 0 <= found <= len(new)
    if common_prefix(old, new) < length:
        # Only what both end with, and what was new text before, is new text now.
        tail = len(new) - found
        assert tail <= len(old) - length
        assert old[len(old) - tail :] == new[found:]


@given(tokens, tokens, st.data())
def test_text_that_is_appended_is_new_text(old: list[int], more: list[int], data) -> None:
    length = data.draw(st.integers(0, len(old)))
    assert prompt_length_after(old, [*old, *more], length) == length


@given(tokens, st.data())
def test_what_is_cut_off_leaves_the_rest(old: list[int], data) -> None:
    length = data.draw(st.integers(0, len(old)))
    kept = data.draw(st.integers(0, len(old)))
    assert prompt_length_after(old, old[:kept], length) == min(length, kept)


@given(distinct, tokens, tokens)
def test_another_prompt_before_the_same_new_text_is_the_prompt(
    prompt: list[int], other: list[int], written: list[int]
) -> None:
    # The old prompt shares no token with the other, so that what is common is no accident.
    old = [*(-1 - token for token in prompt), *written]
    assert prompt_length_after(old, [*other, *written], len(prompt)) == len(other)


def test_the_prompts_length_in_a_session(session: Session) -> None:
    prompt = len(session.ids)

    def length() -> int:
        return session.snapshot().prompt_length

    assert length() == prompt
    session.step()
    session.type(" and")
    assert length() == prompt
    session.rewind_to(prompt - 1)
    assert length() == prompt - 1
    session.step()
    assert length() == prompt - 1
    session.open(session.encode("the rain"))
    assert length() == len(session.ids)
    session.step()
    new = session.ids[-1]
    session.edit("in " + session.text)
    assert session.ids[length() :] == [new]
