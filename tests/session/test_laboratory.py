"""Questions to the held distribution: each answer follows from what is held, at no pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.session.conftest import OPEN, CountingModel
from tokenloop.errors import DistributionError, SessionError, SettingError
from tokenloop.sampling import PARAMETERS, PRESETS, SamplerSettings
from tokenloop.session import Session
from tokenloop.session.laboratory.sweep import values

if TYPE_CHECKING:
    from tokenloop_models.model import Model

BANS = dict.fromkeys(range(299), float("-inf"))


# --- many draws ----------------------------------------------------------------------------------


def test_the_draws_are_those_of_so_many_rolls(session: Session) -> None:
    record = session.draws(60, shown=299)
    rolled = [session.held.chosen.id, *(session.roll().chosen.id for _ in range(59))]
    assert {c.id: c.count for c in record.counts if c.count} == {
        token_id: rolled.count(token_id) for token_id in rolled
    }
    assert (record.draws, record.seed, record.position) == (60, 3, len(session.ids))


def test_rolling_on_does_not_change_what_the_first_draws_were(session: Session) -> None:
    before = session.draws(500)
    session.roll()
    assert session.draws(500).counts == before.counts


def test_shown_and_rest_account_for_every_draw(session: Session) -> None:
    record = session.draws(2000, shown=5)
    assert [c.final_p for c in record.counts] == sorted(c.final_p for c in record.counts)[::-1]
    assert sum(c.count for c in record.counts) + record.rest_count == 2000
    assert sum(c.final_p for c in record.counts) + record.rest_p == pytest.approx(1)
    all_shown = session.draws(2000, shown=299)
    assert (all_shown.rest_count, all_shown.rest_p) == (0, 0)


def test_the_display_is_the_truth_by_chi_square(session: Session) -> None:
    session.configure(SamplerSettings(temperature=1.2, top_k=12, top_p=1.0, min_p=0.0))
    record = session.draws(20_000)
    assert record.degrees == 11
    assert record.p_value > 0.001
    assert len(record.counts) == 12
    assert record.rest_count == 0


def test_greedy_draws_no_number_so_there_are_no_many_draws(session: Session) -> None:
    session.configure(OPEN.replace(temperature=0))
    with pytest.raises(SessionError, match="greedy draws no number"):
        session.draws(100)


@pytest.mark.parametrize("count", [0, -1, 10_000_000])
def test_a_senseless_number_of_draws_is_refused(session: Session, count: int) -> None:
    with pytest.raises(SettingError, match="draws"):
        session.draws(count)


def test_one_survivor_proves_nothing_and_says_so(session: Session) -> None:
    session.configure(OPEN.replace(top_k=1))
    record = session.draws(100)
    assert [(c.count, c.final_p) for c in record.counts] == [(100, 1.0)]
    assert (record.chi_square, record.p_value, record.degrees) == (None, None, 0)


# --- sweeps --------------------------------------------------------------------------------------


def test_each_point_is_what_configuring_that_value_gives(session: Session) -> None:
    record = session.sweep("temperature", points=9, shown=6)
    assert [point.value for point in record.points] == [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 1.75, 2]
    for point in record.points:
        session.configure(OPEN.replace(temperature=point.value))
        shown = session.held.candidates[:6]
        assert point.final_p == tuple(c.final_p for c in shown)
        assert point.survivors == session.held.stages[-1].survivors
        assert point.entropy_bits == session.held.final_entropy_bits
        assert [c.id for c in record.candidates] == [c.id for c in shown]


def test_the_current_value_is_among_the_points(session: Session) -> None:
    for name, value in (("temperature", 0.137), ("top_k", 17), ("top_p", 0.951), ("min_p", 0.07)):
        session.configure(session.settings.replace(**{name: value}))
        record = session.sweep(name, points=5)
        assert record.current == value
        assert value in [point.value for point in record.points]


@pytest.mark.parametrize("name", sorted(PARAMETERS))
def test_every_number_has_a_sweep_of_values_that_it_may_have(session: Session, name: str) -> None:
    record = session.sweep(name, points=11)
    found = [point.value for point in record.points]
    assert found == sorted(set(found))
    assert 2 <= len(found) <= 13
    assert record.label == PARAMETERS[name].label
    for value in found:
        PARAMETERS[name].check(value)


def test_a_value_outside_the_usual_range_widens_it() -> None:
    assert values(PARAMETERS["temperature"], 4.0, 5) == [0, 1, 2, 3, 4]
    assert values(PARAMETERS["top_k"], 0, 5)[0] == 0
    assert values(PARAMETERS["top_k"], 5000, 5)[-1] == 5000
    assert values(PARAMETERS["no_repeat_ngram_size"], 3, 41) == list(range(11))


def test_top_k_is_swept_evenly_in_its_logs() -> None:
    found = values(PARAMETERS["top_k"], 40, 7)
    assert found == [1, 3, 10, 32, 40, 100, 316, 1000]


def test_a_sweep_of_a_stage_that_does_not_run_is_refused_by_name(session: Session) -> None:
    session.configure(OPEN.replace(off=("top_p",)))
    with pytest.raises(SettingError, match="stage top_p is switched off"):
        session.sweep("top_p")
    session.configure(OPEN.replace(stages=("top_k", "temperature")))
    with pytest.raises(SettingError, match="stage top_p is not in the chain"):
        session.sweep("top_p")
    with pytest.raises(SettingError, match="one of temperature"):
        session.sweep("order")
    with pytest.raises(SettingError, match="points"):
        session.sweep("temperature", points=10**6)


def test_values_that_are_refused_have_no_point(session: Session) -> None:
    assert [point.value for point in session.sweep("mirostat").points] == [0, 2]


def test_values_that_leave_nothing_to_draw_from_have_no_point(session: Session) -> None:
    # The n-grams come after the cut to one candidate here, and may ban that one.
    ids = session.ids
    session.configure(OPEN.replace(logit_bias={ids[-1]: 100.0}))
    session.step()
    chain = ("logit_bias", "top_k", "no_repeat_ngram", "temperature")
    session.configure(session.settings.replace(stages=chain, top_k=1))
    record = session.sweep("no_repeat_ngram_size", points=41)
    assert [point.value for point in record.points][:2] == [0, 3]


# --- two chains ----------------------------------------------------------------------------------


@pytest.fixture
def sides(session: Session) -> tuple[SamplerSettings, SamplerSettings]:
    """The four best; and the six best but the second, at T = 2."""
    second = session.held.candidates[1].id
    return OPEN.replace(top_k=4), OPEN.replace(
        temperature=2.0, top_k=6, logit_bias={second: -100.0}
    )


def test_both_sides_are_what_configuring_them_gives(session: Session, sides) -> None:
    record = session.compare(("left", sides[0]), ("right", sides[1]))
    for settings, side, name in zip(
        sides, (record.left, record.right), ("left_p", "right_p"), strict=True
    ):
        session.configure(settings)
        session.show(299)
        held = session.held
        assert side.stages == held.stages
        assert side.draw == held.draw
        assert side.chosen.id == held.chosen.id
        assert side.entropy_bits == held.final_entropy_bits
        final = {c.id: c.final_p for c in held.candidates}
        assert all(getattr(c, name) == final[c.id] for c in record.candidates)


def test_who_keeps_what_and_the_largest_difference_first(session: Session, sides) -> None:
    second = session.held.candidates[1].id
    record = session.compare(("left", sides[0]), ("right", sides[1]))
    assert (record.both, record.only_left, record.only_right) == (3, 1, 3)
    assert len(record.candidates) == 7
    differences = [abs(c.left_p - c.right_p) for c in record.candidates]
    assert differences == sorted(differences, reverse=True)
    assert record.total_variation == pytest.approx(sum(differences) / 2)
    alone = next(c for c in record.candidates if c.id == second)
    assert (alone.right_p, alone.right_cut_by, alone.left_cut_by) == (0, "top_k", None)
    assert alone.rank == 2
    few = session.compare(("left", sides[0]), ("right", sides[1]), shown=2)
    assert few.candidates == record.candidates[:2]


def test_a_chain_beside_itself_differs_in_nothing(session: Session) -> None:
    record = session.compare(("a", OPEN), ("b", OPEN))
    assert record.total_variation == 0
    assert (record.only_left, record.only_right, record.both) == (0, 0, 299)
    assert record.left.chosen == record.right.chosen
    assert [c.rank for c in record.candidates] == list(range(1, 41))


def test_the_two_traditions_share_their_luck(session: Session) -> None:
    sides = [(name, PRESETS[name].settings) for name in ("llamacpp", "transformers")]
    record = session.compare(*sides)
    assert (record.left.name, record.right.name) == ("llamacpp", "transformers")
    assert (record.left.order, record.right.order) == ("llamacpp", "transformers")
    assert record.left.draw.u == record.right.draw.u == session.held.draw.u


def test_a_side_that_cannot_be_is_refused(session: Session) -> None:
    with pytest.raises(DistributionError, match="logit_bias leaves no candidate"):
        session.compare(("a", OPEN), ("b", OPEN.replace(logit_bias=BANS)))


# --- search --------------------------------------------------------------------------------------


def labels(session: Session, query: str) -> list[str]:
    return [candidate.label for candidate in session.find(query).candidates]


def test_text_finds_the_tokens_that_hold_it_exact_ones_first(session: Session) -> None:
    record = session.find("the")
    assert (record.kind, [c.label for c in record.candidates]) == ("text", ["␣the"])
    record = session.find("a")
    exact, others = record.candidates[:2], record.candidates[2:]
    assert {c.label for c in exact} == {"a", "␣a"}
    assert {"␣an", "at", "al", "and"} <= {c.label for c in others}
    for group in (exact, others):
        assert [c.rank for c in group] == sorted(c.rank for c in group)


def test_every_hit_has_its_rank_and_its_fate_at_each_stage(session: Session) -> None:
    session.configure(OPEN.replace(top_k=3))
    logits = session.held_logits
    for found in session.find("e").candidates:
        assert found.rank == 1 + int((logits > logits[found.id]).sum())
        assert len(found.after) == len(session.held.stages)
        assert (found.cut_by is None) == (found.final_p > 0)
        if found.rank > 3:
            assert found.cut_by == "top_k"


def test_small_letters_find_capitals_and_capitals_only_themselves(session: Session) -> None:
    assert {"␣S", "s", "␣s"} <= set(labels(session, "s"))
    assert set(labels(session, "S")) == {"S", "␣S"}


@pytest.mark.parametrize(
    ("query", "label"),
    [("␣the", "␣the"), (" the", "␣the"), ("⏎", "⏎"), ("\n", "⏎"), ("⟨E6⟩", "⟨E6⟩")],
)
def test_a_label_finds_what_it_shows(session: Session, query: str, label: str) -> None:
    assert labels(session, query)[0] == label


def test_bytes_find_the_tokens_that_hold_them(session: Session) -> None:
    record = session.find("0x20 74")
    assert record.kind == "bytes"
    assert [c.label for c in record.candidates] == ["␣t", "␣the"]
    assert {c.label for c in session.find("0x2061").candidates} == {"␣a", "␣an", "␣and"}
    assert session.find("0xe6").candidates[0].label == "⟨E6⟩"
    assert session.find("0xe").kind == "text"


def test_an_id_finds_its_token(session: Session) -> None:
    record = session.find("#2")
    assert (record.kind, record.total) == ("id", 1)
    assert record.candidates[0].label == "<|im_end|>"
    assert record.candidates[0].special
    assert session.find("#123456").total == 0
    assert session.find("298").kind == "id"
    assert session.find("2").kind == "text"


def test_what_is_nowhere_is_not_found_and_an_empty_search_is_refused(session: Session) -> None:
    record = session.find("Sydney!")
    assert (record.total, record.candidates) == (0, ())
    with pytest.raises(SessionError, match="empty search"):
        session.find("")
    assert session.find("\ud800").total == session.find("?").total


def test_no_more_are_shown_than_asked_for_but_all_are_counted(session: Session) -> None:
    record = session.find("a", shown=2)
    assert len(record.candidates) == 2
    assert record.total > 2


def test_a_token_that_is_no_candidate_is_said_to_be_none(
    tiny_model: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    forward = type(tiny_model).forward

    def without_the(self: Model, *args: object, **options: object) -> object:
        output = forward(self, *args, **options)
        output.logits[-1] = -np.inf
        return output

    monkeypatch.setattr(type(tiny_model), "forward", without_the)
    session = Session(tiny_model)
    session.open(session.encode("x"))
    last = session.model.vocab_size - 1
    record = session.find(f"#{last}")
    assert (record.total, record.without_logit, record.candidates) == (1, 1, ())


# --- laws ----------------------------------------------------------------------------------------


def test_no_question_runs_a_pass_or_changes_anything(tiny_model: Model) -> None:
    model = CountingModel(tiny_model)
    session = Session(model, settings=OPEN, seed=3)
    session.open(session.encode("the rain"))
    for _ in range(3):
        session.step()
    before, passes = session.snapshot(), model.passes
    session.draws(1000)
    session.sweep("temperature")
    session.compare(("a", OPEN), ("b", SamplerSettings()))
    session.find("the")
    assert session.snapshot() == before
    session.watch(5)
    session.watch(5)
    assert session.snapshot() == before
    assert model.passes == passes
    session.configure(OPEN.replace(temperature=0.5, top_k=3))
    session.roll()
    session.snapshot()
    assert model.passes == passes


def test_before_a_prompt_every_question_says_so(tiny_model: Model) -> None:
    session = Session(tiny_model)
    for ask in (
        lambda: session.draws(10),
        lambda: session.sweep("temperature"),
        lambda: session.compare(("a", OPEN), ("b", OPEN)),
        lambda: session.find("x"),
    ):
        with pytest.raises(SessionError, match="no prompt"):
            ask()


def test_the_first_edit_opens_the_text_as_a_prompt(tiny_model: Model) -> None:
    session = Session(tiny_model)
    session.edit("the rain")
    assert session.ids == session.encode("the rain")
    assert session.snapshot().prompt_length == len(session.ids)
