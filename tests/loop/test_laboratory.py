"""The laboratory through the loop: questions are answered while a run goes on."""

from __future__ import annotations

import msgspec
import pytest

from tests.loop.conftest import OPEN, Driver, changed
from tokenloop.loop import Answered, Changed, Event, Failed, Loop, RunEnded
from tokenloop.records import Comparison, DrawsRecord, FoundTokens, SweepRecord
from tokenloop.sampling import SamplerSettings

SIDES = (("open", OPEN), ("default", SamplerSettings()))
QUESTIONS = {
    DrawsRecord: lambda loop: loop.draws(1000),
    SweepRecord: lambda loop: loop.sweep("temperature"),
    Comparison: lambda loop: loop.compare(*SIDES),
    FoundTokens: lambda loop: loop.find("the"),
}


@pytest.mark.parametrize("kind", QUESTIONS)
def test_a_question_is_answered_with_its_record_and_changes_nothing(
    driver: Driver, kind: type
) -> None:
    before = changed(driver.do(driver.loop.step())).snapshot
    answered = driver.do(QUESTIONS[kind](driver.loop))
    assert isinstance(answered, Answered)
    assert isinstance(answered.record, kind)
    assert msgspec.json.decode(msgspec.json.encode(answered.record), type=kind) == answered.record
    after = changed(driver.do(driver.loop.show(40))).snapshot
    assert (after.prefix, after.settings) == (before.prefix, before.settings)


def test_a_watched_token_is_in_the_snapshots(driver: Driver) -> None:
    watched = changed(driver.do(driver.loop.watch(40)))
    assert watched.done == "watched"
    assert [pin.id for pin in watched.snapshot.watched] == [40]
    stepped = changed(driver.do(driver.loop.step())).snapshot
    assert len(stepped.watched[0].points) == len(watched.snapshot.watched[0].points) + 1
    assert changed(driver.do(driver.loop.watch(40))).snapshot.watched == ()


def test_questions_and_pins_do_not_end_a_run(driver: Driver) -> None:
    asked: list[int] = []
    original = driver.loop._on_event

    def asking(event: Event) -> None:
        original(event)
        if isinstance(event, Changed) and event.done == "stepped" and not asked:
            asked.extend(ask(driver.loop) for ask in QUESTIONS.values())
            asked.append(driver.loop.watch(40))

    driver.loop._on_event = asking
    events = driver.until_finished(driver.loop.run(4))
    assert [e.request for e in events if isinstance(e, Answered)] == asked[:-1]
    ended = [e for e in events if isinstance(e, RunEnded)]
    assert [(e.reason, e.steps) for e in ended] == [("4 steps", 4)]
    last = [e for e in events if isinstance(e, Changed)][-1].snapshot
    assert [pin.id for pin in last.watched] == [40]


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda loop: loop.draws(0), "draws = 0"),
        (lambda loop: loop.sweep("order"), "sweep = 'order'"),
        (lambda loop: loop.find(""), "empty search"),
        (lambda loop: loop.watch(-1), "no token -1"),
    ],
)
def test_a_question_without_sense_fails_in_one_line(driver: Driver, ask, says: str) -> None:
    failed = driver.do(ask(driver.loop))
    assert isinstance(failed, Failed)
    assert says in failed.message
    assert "\n" not in failed.message
    assert changed(driver.do(driver.loop.step())).done == "stepped"


def test_without_a_model_a_question_says_so() -> None:
    driver = Driver()
    for ask in QUESTIONS.values():
        failed = driver.do(ask(driver.loop))
        assert isinstance(failed, Failed)
        assert "no model" in failed.message
    driver.loop.close()


def test_the_fake_loop_has_the_same_commands() -> None:
    from tests.app.fake_loop import FakeLoop

    commands = {name for name in dir(Loop) if not name.startswith("_")}
    assert commands <= set(dir(FakeLoop))
