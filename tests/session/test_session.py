"""What each command of a session does, on a tiny model."""

from __future__ import annotations

import itertools
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from msgspec import structs

from tokenloop.errors import ContextFullError, DistributionError, SessionError, SettingError
from tokenloop.records import LatencyHistory, StepRecord
from tokenloop.sampling import Candidates, SamplerSettings, uniform
from tokenloop.session import Session
from tokenloop.session.snapshot import Snapshot
from tokenloop_models.errors import Cancelled


def state(session: Session) -> tuple[object, ...]:
    """Everything that a failed command must leave as it was.

    All but the cache's record, as a pass that failed may have overwritten part of the cache, and
    the time of the last redraw.
    """
    snapshot = session.snapshot()
    return (
        session.ids,
        session.held,
        session.held_logits.tolist(),
        session.settings,
        structs.replace(snapshot, cache=None, latency=passes_of(snapshot)),
    )


def passes_of(snapshot: Snapshot) -> LatencyHistory:
    """What the passes cost so far, whatever the sampler did since."""
    return structs.replace(snapshot.latency, redraw_ms=None)


# --- step ----------------------------------------------------------------------------------------


def test_the_pending_draw_is_the_token_that_the_step_appends(session: Session) -> None:
    pending = session.held
    before = session.ids
    record = session.step()
    assert session.ids == [*before, pending.chosen.id]
    assert record.token.id == pending.chosen.id
    assert record.position == len(before)
    assert record.draw == pending.draw
    assert record.candidates == pending.candidates
    assert record.step == 1


def test_u_depends_on_seed_position_and_attempt_alone(session: Session) -> None:
    assert session.held.draw.u == uniform(3, len(session.ids), 0)
    session.roll()
    assert session.held.draw.u == uniform(3, len(session.ids), 1)
    session.configure(session.settings.replace(temperature=0.5))
    assert session.held.draw.u == uniform(3, len(session.ids), 1)


def test_a_step_computes_one_position_and_keeps_the_rest(session: Session) -> None:
    prompt = len(session.ids)
    record = session.step()
    assert (record.cache.kept, record.cache.computed) == (prompt, 1)
    assert record.cache.positions == prompt + 1
    assert record.cache.bytes == record.cache.positions * record.cache.bytes_per_position
    assert record.latency_ms.decode > 0
    assert record.latency_ms.prefill == 0


def test_the_history_says_which_pass_ran_last(session: Session) -> None:
    assert session.snapshot().latency.last.positions > 1
    step = session.step()
    assert session.snapshot().latency.last == step.latency_ms
    session.edit("the rain is in Spain and more")
    latency = session.snapshot().latency
    assert latency.last == latency.prefill
    assert latency.decode == step.latency_ms


def test_only_steps_count_as_steps(session: Session) -> None:
    session.open([5])
    prompt = session.snapshot().latency
    assert (prompt.last.positions, prompt.steps_ms, prompt.last_is_step) == (1, (), False)
    assert prompt.decode == prompt.last
    first = session.step()
    session.force(6)
    stepped = session.snapshot().latency
    assert stepped.steps_ms == (first.latency_ms.total, stepped.last.total)
    assert stepped.last_is_step
    session.step()
    session.edit(session.text[:-1] + "q")
    edited = session.snapshot().latency
    assert len(edited.steps_ms) == 3
    assert not edited.last_is_step


def test_a_rewind_that_needs_a_pass_makes_no_step(session: Session) -> None:
    session.step()
    before = session.snapshot().latency
    session.rewind_to(2)
    after = session.snapshot().latency
    assert after.decode != before.decode
    assert (after.steps_ms, after.last_is_step) == (before.steps_ms, False)


def test_shown_candidates_and_tail_sum_to_one(session: Session) -> None:
    session.configure(SamplerSettings(top_k=20))
    choice = session.held
    assert sum(c.p for c in choice.candidates) + choice.tail.p == pytest.approx(1)
    assert sum(c.final_p for c in choice.candidates) + choice.tail.final_p == pytest.approx(1)
    assert len(choice.candidates) + choice.tail.count == choice.vocab_size
    cut = sum(c.cut_by is not None for c in choice.candidates) + sum(choice.tail.cut.values())
    assert cut == choice.vocab_size - choice.stages[-1].survivors


def test_the_ribbon_begins_at_zero_without_gaps_and_holds_u(session: Session) -> None:
    ribbon = session.held.ribbon
    assert ribbon[0].low == 0
    assert all(a.high == b.low for a, b in itertools.pairwise(ribbon))
    draw = session.held.draw
    chosen = next(part for part in ribbon if part.id == session.held.chosen.id)
    assert (chosen.low, chosen.high) == (draw.low, draw.high)
    assert chosen.low <= draw.u < chosen.high


def test_showing_more_candidates_never_changes_what_is_drawn(session: Session) -> None:
    before = session.held
    session.show(100)
    after = session.held
    assert len(after.candidates) == 100
    assert (after.chosen, after.draw) == (before.chosen, before.draw)


def test_greedy_takes_the_best_and_draws_nothing(session: Session) -> None:
    session.configure(session.settings.replace(temperature=0))
    record = session.step()
    assert record.token.id == record.candidates[0].id
    assert record.draw.how == "greedy"
    assert record.draw.u is None
    assert (record.draw.low, record.draw.high) == (0, 1)


# --- rewind, roll, resample ----------------------------------------------------------------------


def test_rewind_and_redo_gives_the_same_ids(session: Session) -> None:
    made = [session.step().token.id for _ in range(6)]
    session.rewind(6)
    assert [session.step().token.id for _ in range(6)] == made


def test_rewind_restores_distribution_and_draw_without_a_pass(session: Session) -> None:
    before = session.held
    session.step()
    passes = passes_of(session.snapshot())
    session.rewind()
    assert session.held == before
    assert passes_of(session.snapshot()) == passes
    assert session.snapshot().cache.computed == 0


def test_rewind_into_the_prompt_runs_one_pass_on_one_position(session: Session, fresh) -> None:
    session.rewind_to(2)
    cache = session.snapshot().cache
    assert (cache.positions, cache.kept, cache.computed) == (2, 1, 1)
    np.testing.assert_allclose(session.held_logits, fresh(session.ids), atol=1e-4)


@pytest.mark.parametrize("length", [0, -1, 1000])
def test_rewinding_too_far_is_refused_and_changes_nothing(session: Session, length: int) -> None:
    before = state(session)
    with pytest.raises(SessionError, match="rewind"):
        session.rewind_to(length)
    assert state(session) == before


def test_roll_changes_the_attempt_and_runs_no_pass(session: Session) -> None:
    before = session.snapshot()
    rolled = session.roll()
    after = session.snapshot()
    assert rolled.draw.attempt == 1
    assert passes_of(after) == passes_of(before)
    assert after.cache == before.cache
    assert after.choice.candidates == before.choice.candidates


def test_resample_is_rewind_roll_step(session: Session) -> None:
    session.step()
    record = session.resample()
    assert record.draw.attempt == 1
    assert record.step == 1
    assert session.resample().draw.attempt == 2


def test_the_attempt_belongs_to_the_prefix_and_survives_a_rewind(session: Session) -> None:
    session.step()
    session.resample()
    session.rewind()
    assert session.held.draw.attempt == 1


def test_two_prefixes_share_their_luck_at_the_same_position(session: Session) -> None:
    first, second = session.held.candidates[:2]
    session.force(first.id)
    u = session.held.draw.u
    session.rewind()
    session.force(second.id)
    assert session.held.draw.u == u


def test_resampling_a_given_token_is_refused(session: Session) -> None:
    with pytest.raises(SessionError, match="given"):
        session.resample()


def test_greedy_cannot_be_rolled_and_a_failed_resample_changes_nothing(session: Session) -> None:
    session.configure(session.settings.replace(temperature=0))
    session.step()
    before = state(session)
    with pytest.raises(SessionError, match="greedy"):
        session.resample()
    assert state(session) == before


# --- force, type, edit ---------------------------------------------------------------------------


def test_a_forced_token_may_be_one_that_was_cut(session: Session) -> None:
    session.configure(session.settings.replace(top_k=1))
    cut = session.held.candidates[3]
    record = session.force(cut.id)
    assert session.ids[-1] == cut.id
    assert record.draw.how == "forced"
    assert record.draw.u is record.draw.low is None
    assert record.chosen.cut_by == "top_k"
    assert record.chosen.rank == 4


def test_a_forced_survivor_keeps_its_interval(session: Session) -> None:
    choice = session.held
    record = session.force(choice.candidates[0].id)
    width = record.draw.high - record.draw.low
    assert width == pytest.approx(choice.candidates[0].final_p)


@pytest.mark.parametrize("token_id", [-1, 10**6])
def test_forcing_what_is_no_candidate_is_refused(session: Session, token_id: int) -> None:
    before = state(session)
    with pytest.raises(SessionError, match="no candidate"):
        session.force(token_id)
    assert state(session) == before


def test_typing_one_token_is_a_forced_step(session: Session) -> None:
    session.type("a")
    assert session.snapshot().prefix[-1].how == "forced"
    assert session.text.endswith("Spaina")


def test_typing_several_tokens_is_one_prefill_that_keeps_the_rest(session: Session, fresh) -> None:
    before = session.ids
    session.type(" and more of it")
    assert session.ids[: len(before)] == before
    assert session.text == "the rain in Spain and more of it"
    cache = session.snapshot().cache
    assert (cache.kept, cache.computed) == (len(before), len(session.ids) - len(before))
    np.testing.assert_allclose(session.held_logits, fresh(session.ids), atol=1e-4)


def test_an_edit_keeps_the_ids_before_and_after_what_changed(session: Session, fresh) -> None:
    old = session.ids
    session.edit("the rain on Spain")
    assert session.text == "the rain on Spain"
    same = next(i for i, (a, b) in enumerate(zip(old, session.ids, strict=False)) if a != b)
    cache = session.snapshot().cache
    assert cache.kept in (same, same - 1)
    assert cache.kept + cache.computed == len(session.ids)
    assert session.ids[-3:] == old[-3:]
    np.testing.assert_allclose(session.held_logits, fresh(session.ids), atol=1e-4)


def test_an_edit_never_encodes_forced_ids_again(session: Session) -> None:
    # "t", "h", "e" one by one are ids that encoding the same text would merge into one.
    for letter in "the":
        session.force(session.encode(letter)[0])
    spelled = session.ids[-3:]
    session.edit(session.text + " end")
    assert spelled == session.ids[len(session.ids) - len(session.encode(" end")) - 3 :][:3]


def test_an_edit_that_only_cuts_is_a_rewind(session: Session) -> None:
    session.step()
    session.edit("the rain in Spain")
    assert session.text == "the rain in Spain"
    assert session.snapshot().cache.computed == 0


def test_an_empty_edit_is_refused(session: Session) -> None:
    before = state(session)
    with pytest.raises(SessionError, match="empty"):
        session.edit("")
    assert state(session) == before


def test_typed_special_tokens_are_plain_text_unless_asked_for(session: Session) -> None:
    session.type("<|im_end|>")
    assert session.ids[-1] not in session.model.eos_ids
    session.type("<|im_end|>", specials=True)
    assert session.snapshot().prefix[-1].token.special


def test_an_unchanged_text_read_with_special_tokens_changes_their_names_alone(
    session: Session, fresh
) -> None:
    for letter in "the":
        session.force(session.encode(letter)[0])
    spelled = session.ids
    session.type("<|im_end|>so")
    plain, text = session.ids, session.text
    after = plain[-len(session.encode("so")) :]
    session.edit(text, specials=True)
    assert session.text == text
    (special,) = session.model.eos_ids
    assert session.ids == [*spelled, special, *after]
    np.testing.assert_allclose(session.held_logits, fresh(session.ids), atol=1e-4)
    session.edit(text, specials=True)
    assert session.ids == [*spelled, special, *after]
    session.edit(text + "!", specials=False)
    assert special in session.ids


def test_a_special_token_survives_an_edit_around_it(session: Session) -> None:
    session.type("<|im_end|>", specials=True)
    special = session.ids[-1]
    session.edit(session.text.replace("rain", "sun") + " so")
    assert special in session.ids


# --- look ----------------------------------------------------------------------------------------


def test_looking_back_gives_the_very_record_of_the_step(session: Session) -> None:
    records = [session.step() for _ in range(3)]
    start = len(session.ids) - 3
    assert [session.look(start + index) for index in range(3)] == records


def test_given_tokens_show_what_the_model_expected_before_them(session: Session, fresh) -> None:
    ids = session.ids
    record = session.look(3)
    logits = fresh(ids[:3]).astype(np.float64)
    p = np.exp(logits - logits.max())
    p /= p.sum()
    assert record.draw.how == "given"
    assert record.token.id == ids[3]
    assert record.chosen.p == pytest.approx(p[ids[3]], abs=1e-5)
    assert record.chosen.rank == 1 + int((logits > logits[ids[3]]).sum())
    assert record.candidates[0].p == pytest.approx(p.max(), abs=1e-5)
    assert record.entropy_bits == pytest.approx(-(p * np.log2(p)).sum(), abs=1e-4)
    assert sum(c.p for c in record.candidates) + record.tail.p == pytest.approx(1)
    assert session.snapshot().prefix[3].p == record.chosen.p


def test_the_first_token_after_a_kept_prefix_is_scored_too(session: Session, fresh) -> None:
    start = len(session.ids)
    session.type(" and on")
    logits = fresh(session.ids[:start]).astype(np.float64)
    p = np.exp(logits - logits.max())
    p /= p.sum()
    record = session.look(start)
    assert record.chosen.p == pytest.approx(p[session.ids[start]], abs=1e-5)
    assert [c.id for c in record.candidates] == np.argsort(-logits, kind="stable")[:8].tolist()


def test_nothing_came_before_the_first_token(session: Session) -> None:
    with pytest.raises(SessionError, match="first token"):
        session.look(0)
    with pytest.raises(SessionError, match="no token at position 99"):
        session.look(99)


def test_looking_changes_nothing(session: Session) -> None:
    session.step()
    before = state(session)
    session.look(1)
    session.look(len(session.ids) - 1)
    assert state(session) == before


# --- self-check ----------------------------------------------------------------------------------


def test_the_self_check_compares_with_a_fresh_prefill(session: Session, fresh) -> None:
    for _ in range(3):
        session.step()
    before = state(session)
    record = session.check()
    truth = fresh(session.ids)
    assert record.largest_logit_diff == pytest.approx(
        float(np.abs(session.held_logits - truth).max()), abs=1e-6
    )
    assert record.largest_logit_diff < 1e-4
    assert record.positions == len(session.ids)
    assert record.chosen.id == session.held.chosen.id
    assert record.same_token
    assert state(session) == before


def test_the_self_check_finds_what_is_wrong(session: Session) -> None:
    now = session._now
    lowest = now.choice.candidates[-1].id
    tampered = now.raw.logits.copy()
    tampered[lowest] += 50.0
    session._now = replace(now, raw=Candidates(now.raw.ids, tampered))
    session.configure(session.settings.replace(temperature=0))
    record = session.check()
    assert record.largest_logit_diff == pytest.approx(50, abs=1e-3)
    assert record.at.id == lowest
    assert record.chosen.id == lowest
    assert not record.same_token


# --- dials and refusals --------------------------------------------------------------------------


def test_settings_redraw_from_the_held_logits_without_a_pass(session: Session) -> None:
    before = session.snapshot()
    session.configure(session.settings.replace(temperature=0.3, top_k=5))
    after = session.snapshot()
    assert passes_of(after) == passes_of(before)
    assert after.choice.entropy_bits == before.choice.entropy_bits
    assert after.choice.final_entropy_bits < before.choice.final_entropy_bits


def test_settings_that_leave_nothing_are_refused_and_the_old_ones_stay(session: Session) -> None:
    before = state(session)
    bans = dict.fromkeys(range(session.model.vocab_size), float("-inf"))
    with pytest.raises(DistributionError):
        session.configure(SamplerSettings(logit_bias=bans))
    with pytest.raises(SettingError):
        session.configure(SamplerSettings(logit_bias={10**6: 1.0}))
    assert state(session) == before


def test_reseeding_changes_the_draw_and_comes_back(session: Session) -> None:
    before = session.held
    session.reseed(99)
    assert session.held.draw.u == uniform(99, len(session.ids), 0)
    session.reseed(3)
    assert session.held == before


def test_nothing_works_before_a_prompt_and_each_says_so(tiny_model) -> None:
    session = Session(tiny_model)
    for command in (
        session.step,
        session.roll,
        session.rewind,
        session.resample,
        lambda: session.force(1),
        lambda: session.type("x"),
        lambda: session.held,
    ):
        with pytest.raises(SessionError, match="no prompt"):
            command()
    assert session.snapshot().choice is None
    assert session.snapshot().notice == "no prompt yet"


def test_context_full_is_said_and_the_session_stays_usable(session: Session) -> None:
    limit = session.model.context_length
    session.open([5] * limit)
    assert session.context_full
    before = state(session)
    with pytest.raises(ContextFullError, match=f"context full at {limit}"):
        session.step()
    with pytest.raises(ContextFullError, match=rf"the text is \d+ tokens: .* holds {limit}"):
        session.type(" more text")
    with pytest.raises(ContextFullError, match=f"the text is {limit + 1} tokens"):
        session.open([5] * (limit + 1))
    assert state(session) == before
    session.rewind()
    session.step()
    assert len(session.ids) == limit


def test_nan_logits_undo_the_step_and_name_the_token(session: Session, monkeypatch) -> None:
    before = state(session)
    forward = type(session._runtime).forward

    def poisoned(self, *args, **kwargs):
        output = forward(self, *args, **kwargs)
        output.logits[11] = np.nan
        return output

    with monkeypatch.context() as patch:
        patch.setattr(type(session._runtime), "forward", poisoned)
        with pytest.raises(DistributionError, match="token 11 is NaN"):
            session.step()
        with pytest.raises(DistributionError, match="token 11 is NaN"):
            session.edit("something else")
        with pytest.raises(DistributionError, match="token 11 is NaN"):
            session.open([1, 2, 3])
        positions = session.snapshot().cache.positions
        assert session.cached_ids == tuple(session.ids[:positions])
    assert state(session) == before
    session.step()
    assert session.cached_ids == tuple(session.ids)


def test_a_resample_that_fails_halfway_changes_nothing(session: Session, monkeypatch) -> None:
    session.step()
    before = state(session)

    def broken(self, *args, **kwargs):
        raise MemoryError

    with monkeypatch.context() as patch:
        patch.setattr(type(session._runtime), "forward", broken)
        with pytest.raises(MemoryError):
            session.resample()
    assert state(session) == before
    assert session.snapshot().cache.positions == len(session.ids) - 1
    record = session.resample()
    assert record.draw.attempt == 1
    assert record.cache.positions == len(session.ids)


def test_a_cancelled_prefill_leaves_the_session_as_it_was(session: Session, fresh) -> None:
    session.step()
    before = state(session)
    for command in (
        lambda: session.open(session.encode("quite another text"), cancelled=lambda: True),
        lambda: session.edit("quite another text", cancelled=lambda: True),
    ):
        with pytest.raises(Cancelled):
            command()
        assert state(session) == before
        positions = session.snapshot().cache.positions
        assert session.cached_ids == tuple(session.ids[:positions])
    session.step()
    assert session.cached_ids == tuple(session.ids)
    np.testing.assert_allclose(session.held_logits, fresh(session.ids), atol=1e-4)


def test_a_record_is_one_json_object_and_comes_back_equal(session: Session) -> None:
    record = session.step()
    line = msgspec.json.encode(record)
    assert b"\n" not in line
    assert msgspec.json.decode(line, type=StepRecord) == record


def test_the_history_tells_a_redraw_from_a_pass(session: Session) -> None:
    session.open(session.encode("The capital"))
    assert session.snapshot().latency.redraw_ms is None
    last = session.snapshot().latency.last
    session.configure(session.settings.replace(temperature=1.5))
    turned = session.snapshot().latency
    assert turned.redraw_ms is not None
    assert turned.last is last
    session.step()
    assert session.snapshot().latency.redraw_ms is None
    session.rewind()
    assert session.snapshot().latency.redraw_ms is not None
