"""Watched tokens: where a pin stood at each position, without a pass, whenever it was pinned."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.session.conftest import OPEN, CountingModel
from tokenloop.errors import SessionError
from tokenloop.sampling import SamplerSettings
from tokenloop.session import Session
from tokenloop.session.tree import HeldLogits

if TYPE_CHECKING:
    from tokenloop.records import WatchPoint
    from tokenloop_models.model import Model

PIN = 40


def points(session: Session) -> dict[int, WatchPoint]:
    (pin,) = session.snapshot().watched
    assert pin.id == PIN
    assert [point.position for point in pin.points] == sorted({p.position for p in pin.points})
    return {point.position: point for point in pin.points}


def test_each_point_is_what_the_records_said_at_that_time(session: Session) -> None:
    session.show(299)
    expected = {}
    for temperature in (0.5, 1.0, 2.0):
        session.configure(OPEN.replace(temperature=temperature, top_k=150))
        expected[len(session.ids)] = next(c for c in session.held.candidates if c.id == PIN)
        session.step()
    session.watch(PIN)
    found = points(session)
    for position, candidate in expected.items():
        point = found[position]
        assert (point.rank, point.p) == (candidate.rank, candidate.p)
        assert point.final_p == candidate.final_p


@pytest.mark.parametrize(
    "settings",
    [
        OPEN,
        OPEN.replace(top_k=20),
        OPEN.replace(mirostat=2, mirostat_tau=3.0),
        OPEN.replace(xtc_probability=0.5, xtc_threshold=0.01, repeat_penalty=1.5),
    ],
)
def test_a_late_pin_stands_where_an_early_one_does(
    tiny_model: Model, settings: SamplerSettings
) -> None:
    def watched(*, early: bool) -> dict[int, WatchPoint]:
        session = Session(tiny_model, settings=settings, seed=5, shown=3)
        session.open(session.encode("the rain"))
        if early:
            session.watch(PIN)
        for _ in range(6):
            session.step()
        session.configure(OPEN.replace(top_k=1))
        if not early:
            session.watch(PIN)
        return points(session)

    late = watched(early=False)
    assert late == watched(early=True)
    assert len(late) >= 7


def test_now_is_the_last_point_and_follows_the_dials(session: Session) -> None:
    session.watch(PIN)
    now = points(session)[len(session.ids)]
    assert not now.taken
    session.configure(OPEN.replace(logit_bias={PIN: 8.0}))
    turned = points(session)[len(session.ids)]
    assert (turned.rank, turned.p) == (now.rank, now.p)
    assert turned.final_p > now.final_p


def test_it_is_said_where_the_pin_was_taken(session: Session) -> None:
    session.watch(PIN)
    position = len(session.ids)
    session.force(PIN)
    session.step()
    assert points(session)[position].taken
    assert not points(session)[position + 1].taken
    session.rewind_to(position)
    assert not points(session)[position].taken


def test_given_tokens_have_points_where_the_prefill_recorded_the_pin(session: Session, fresh):
    best = session.look(2).candidates[0]
    session.watch(best.id)
    (pin,) = session.snapshot().watched
    point = next(point for point in pin.points if point.position == 2)
    assert (point.rank, point.p, point.final_p) == (1, best.p, None)
    # The given one itself is known too, however unlikely it was.
    given = session.look(3).chosen
    session.watch(best.id)
    session.watch(given.id)
    (pin,) = session.snapshot().watched
    point = next(point for point in pin.points if point.position == 3)
    assert (point.rank, point.p, point.taken) == (given.rank, given.p, True)
    # What was never among the recorded best is not known there: a gap, not a guess.
    worst = int(np.argmin(fresh(session.ids[:2])))
    session.watch(given.id)
    session.watch(worst)
    (pin,) = session.snapshot().watched
    assert 2 not in [point.position for point in pin.points]


def test_logits_that_are_no_longer_held_leave_a_gap(session: Session, monkeypatch) -> None:
    session.show(1)
    session.open(session.encode("the"))
    one = session.held_logits.astype(np.float32).nbytes
    session._path._held = HeldLogits(limit_bytes=3 * one)
    for _ in range(8):
        session.step()
    cut = int(np.argmin(session.held_logits))
    session.watch(cut)
    (pin,) = session.snapshot().watched
    positions = [point.position for point in pin.points]
    assert positions[-3:] == [len(session.ids) - 2, len(session.ids) - 1, len(session.ids)]
    assert len(positions) < 8


def test_no_pin_runs_a_pass_and_pins_survive_edit_rewind_and_a_new_prompt(
    tiny_model: Model,
) -> None:
    model = CountingModel(tiny_model)
    session = Session(model, settings=OPEN)
    session.watch(PIN)
    assert session.snapshot().watched[0].points == ()
    session.open(session.encode("the rain"))
    for _ in range(4):
        session.step()
    passes = model.passes
    session.watch(41)
    session.snapshot()
    session.rewind(2)
    session.snapshot()
    assert model.passes == passes
    session.edit("the sun is")
    session.open(session.encode("in"))
    watched = session.snapshot().watched
    assert [pin.id for pin in watched] == [PIN, 41]
    assert [point.position for point in watched[0].points][-1] == len(session.ids)


def test_a_second_press_unpins_and_too_many_or_unknown_are_refused(session: Session) -> None:
    session.watch(PIN)
    session.watch(PIN)
    assert session.snapshot().watched == ()
    for token_id in (-1, 299, 10**9):
        with pytest.raises(SessionError, match="ids are 0 to 298"):
            session.watch(token_id)
    for token_id in range(16):
        session.watch(token_id)
    with pytest.raises(SessionError, match="unpin one first"):
        session.watch(PIN)
    assert len(session.snapshot().watched) == 16
