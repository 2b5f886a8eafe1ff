"""The loop thread: commands in, events out, on a tiny model."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from tests.loop.conftest import OPEN, WAIT, Driver, changed
from tests.tiny_model import TinySpec, write_gguf
from tokenloop.loop import (
    Changed,
    Checked,
    Event,
    Failed,
    Loaded,
    Looked,
    RunEnded,
    Started,
)
from tokenloop_models.parts.packed import packed_products_work

if TYPE_CHECKING:
    from pathlib import Path


def test_every_command_is_answered_with_its_number_in_order(driver: Driver) -> None:
    loop = driver.loop
    stepped = changed(driver.do(loop.step()))
    assert stepped.done == "stepped"
    assert stepped.record.token == stepped.snapshot.prefix[-1].token
    assert changed(driver.do(loop.rewind())).done == "rewound"
    assert changed(driver.do(loop.roll())).snapshot.choice.draw.attempt == 1
    assert changed(driver.do(loop.step())).record.draw.attempt == 1
    assert changed(driver.do(loop.resample())).record.draw.attempt == 2
    assert changed(driver.do(loop.edit("the sun"))).snapshot.text == "the sun"
    assert changed(driver.do(loop.type(" is it"))).snapshot.text == "the sun is it"
    choice = changed(driver.do(loop.show(9))).snapshot.choice
    assert len(choice.candidates) == 9
    forced = changed(driver.do(loop.force(choice.candidates[4].id)))
    assert forced.record.draw.how == "forced"
    cold = changed(driver.do(loop.configure(OPEN.replace(temperature=0))))
    assert cold.snapshot.choice.draw.how == "greedy"
    assert changed(driver.do(loop.reseed(8))).snapshot.seed == 8
    assert changed(driver.do(loop.rewind_to(1))).snapshot.prefix[1:] == ()


def test_only_the_loops_thread_ever_answers(driver: Driver) -> None:
    driver.do(driver.loop.step())
    assert driver.threads == {driver.loop._thread}
    assert driver.loop._thread.daemon


def test_looking_answers_with_the_record(driver: Driver) -> None:
    stepped = changed(driver.do(driver.loop.step()))
    looked = driver.do(driver.loop.look(stepped.record.position))
    assert isinstance(looked, Looked)
    assert looked.record == stepped.record


def test_the_self_check_answers_and_changes_nothing(driver: Driver) -> None:
    before = changed(driver.do(driver.loop.step())).snapshot
    checked = driver.do(driver.loop.check())
    assert isinstance(checked, Checked)
    assert checked.record.largest_logit_diff < 1e-4
    assert changed(driver.do(driver.loop.show(40))).snapshot.prefix == before.prefix


def test_the_self_check_of_another_dtype_is_against_float32(tiny_model_folder: Path) -> None:
    driver = Driver()
    driver.do(driver.loop.load(tiny_model_folder, dtype="bfloat16", settings=OPEN))
    driver.do(driver.loop.open("the rain"))
    checked = driver.do(driver.loop.check())
    assert isinstance(checked, Checked)
    assert checked.record.dtype == "bfloat16"
    assert checked.record.largest_logit_diff > 1e-4
    driver.loop.close()


@pytest.mark.skipif(not packed_products_work(), reason="this torch has no packed product")
def test_the_self_check_of_packed_weights_is_against_exact_ones(tmp_path: Path) -> None:
    spec = TinySpec(intermediate=64, vocab_size=304)
    path = write_gguf(spec, tmp_path / "tiny.gguf", kinds={"": "Q4_0"})
    driver = Driver()
    loaded = driver.do(driver.loop.load(path, precision="fast", device="cpu", settings=OPEN))
    assert isinstance(loaded, Loaded)
    assert (loaded.model.precision, loaded.model.exact) == ("fast", False)
    driver.do(driver.loop.open("the rain"))
    checked = driver.do(driver.loop.check())
    assert isinstance(checked, Checked)
    assert checked.record.largest_logit_diff > 1e-4
    driver.loop.close()


def test_a_failed_command_says_why_in_one_line_and_the_loop_lives_on(driver: Driver) -> None:
    failed = driver.do(driver.loop.rewind(1000))
    assert isinstance(failed, Failed)
    assert "\n" not in failed.message
    assert changed(driver.do(driver.loop.step())).done == "stepped"


def test_a_bug_in_the_runtime_is_an_event_and_not_the_end(driver: Driver, monkeypatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise RuntimeError("a\x1b[2Jb")

    with monkeypatch.context() as patch:
        patch.setattr(type(driver.loop._session._runtime), "forward", broken)
        failed = driver.do(driver.loop.step())
    assert isinstance(failed, Failed)
    assert failed.message == "unexpected RuntimeError: a␛[2Jb"
    assert changed(driver.do(driver.loop.step())).done == "stepped"


def test_a_run_makes_so_many_steps_and_says_why_it_stopped(driver: Driver) -> None:
    events = driver.until_finished(driver.loop.run(4))
    steps = [e for e in events if isinstance(e, Changed)]
    ended = [e for e in events if isinstance(e, RunEnded)]
    assert [e.record.step for e in steps] == [1, 2, 3, 4]
    assert [(e.reason, e.steps) for e in ended] == [("4 steps", 4)]


def test_a_run_equals_single_steps(driver: Driver) -> None:
    events = driver.until_finished(driver.loop.run(5))
    ran = [e.record.token.id for e in events if isinstance(e, Changed)]
    driver.do(driver.loop.rewind(5))
    stepped = [changed(driver.do(driver.loop.step())).record.token.id for _ in range(5)]
    assert ran == stepped


def test_a_run_stops_at_the_context_limit(driver: Driver) -> None:
    driver.do(driver.loop.open("a" * 240))
    events = driver.until_finished(driver.loop.run())
    ended = next(e for e in events if isinstance(e, RunEnded))
    assert "context full at 256" in ended.reason or ended.reason == "end of text"


def test_a_run_stops_at_the_end_of_the_text(driver: Driver) -> None:
    eos = driver.loop._session.model.eos_ids[0]
    driver.do(driver.loop.configure(OPEN.replace(logit_bias={eos: 500.0})))
    events = driver.until_finished(driver.loop.run())
    ended = next(e for e in events if isinstance(e, RunEnded))
    assert (ended.reason, ended.steps) == ("end of text", 1)


def test_pause_stops_a_run_and_the_next_command_works(driver: Driver) -> None:
    request = driver.loop.run()
    while not isinstance(driver.events.get(timeout=WAIT), Changed):
        pass
    driver.loop.pause()
    events = driver.until_finished(request)
    ended = next(e for e in events if isinstance(e, RunEnded))
    assert ended.reason in ("paused", "context full at 256 positions", "end of text")
    assert changed(driver.do(driver.loop.rewind())).done == "rewound"


def test_a_setting_changed_during_a_run_does_not_end_it(driver: Driver) -> None:
    hold = threading.Event()
    original = driver.loop._on_event

    def slow(event: Event) -> None:
        original(event)
        if isinstance(event, Changed) and event.done == "stepped" and not hold.is_set():
            driver.loop.configure(OPEN.replace(temperature=0.5))
            hold.set()

    driver.loop._on_event = slow
    events = driver.until_finished(driver.loop.run(4))
    dones = [e.done for e in events if isinstance(e, Changed)]
    assert dones == ["stepped", "configured", "stepped", "stepped", "stepped"]


def test_another_command_ends_a_run(driver: Driver) -> None:
    asked: list[int] = []
    original = driver.loop._on_event

    def interrupting(event: Event) -> None:
        original(event)
        if isinstance(event, Changed) and event.done == "stepped" and not asked:
            asked.append(driver.loop.rewind())

    driver.loop._on_event = interrupting
    run = driver.loop.run()
    ended = next(e for e in driver.until_finished(run) if isinstance(e, RunEnded))
    assert ended.reason == "interrupted"
    assert changed(driver.until_finished(asked[0])[1]).done == "rewound"


def test_regenerate_rewinds_and_runs_on(driver: Driver) -> None:
    first = driver.until_finished(driver.loop.run(3))
    ids = [e.record.token.id for e in first if isinstance(e, Changed)]
    length = len(first[-3].snapshot.prefix) - 3
    events = driver.until_finished(driver.loop.regenerate(length, 3))
    steps = [e.record.token.id for e in events if isinstance(e, Changed) and e.record]
    assert steps == ids


def test_a_run_of_no_steps_is_refused_before_anything_is_rewound(driver: Driver) -> None:
    before = changed(driver.do(driver.loop.step())).snapshot
    for request in (driver.loop.run(0), driver.loop.regenerate(1, -3)):
        failed = driver.do(request)
        assert isinstance(failed, Failed)
        assert "a whole number from 1" in failed.message
    assert changed(driver.do(driver.loop.show(8))).snapshot.prefix == before.prefix


def test_a_prefill_paused_while_it_runs_is_stopped_and_changes_nothing(driver: Driver) -> None:
    before = changed(driver.do(driver.loop.step())).snapshot
    original = driver.loop._on_event

    def pausing(event: Event) -> None:
        original(event)
        if isinstance(event, Started):
            driver.loop.pause()

    driver.loop._on_event = pausing
    failed = driver.do(driver.loop.open("something quite different"))
    driver.loop._on_event = original
    assert failed == Failed(request=failed.request, message="stopped")
    after = changed(driver.do(driver.loop.show(40))).snapshot
    assert after.prefix == before.prefix


def test_without_a_model_every_command_says_so() -> None:
    driver = Driver()
    for request in (
        driver.loop.step(),
        driver.loop.open("x"),
        driver.loop.run(),
        driver.loop.look(0),
    ):
        failed = driver.do(request)
        assert isinstance(failed, Failed)
        assert "no model" in failed.message
    driver.loop.close()


def test_a_model_that_cannot_load_leaves_the_old_one(driver: Driver, tmp_path: Path) -> None:
    failed = driver.do(driver.loop.load(tmp_path / "nothing.gguf"))
    assert isinstance(failed, Failed)
    assert "nothing.gguf" in failed.message
    assert changed(driver.do(driver.loop.step())).done == "stepped"


def test_closing_twice_is_fine_and_ends_the_thread(driver: Driver) -> None:
    driver.loop.run()
    driver.loop.close()
    driver.loop.close()
    assert not driver.loop._thread.is_alive()
