"""Events on their way: nothing floods, nothing late is drawn, what is measured is honest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.app.driving import driven
from tests.app.fake_loop import FakeLoop
from tokenloop.app.conductor import Conductor
from tokenloop.app.mailbox import Mailbox
from tokenloop.loop.events import Changed, Event, Finished, Looked, Progress

if TYPE_CHECKING:
    from collections.abc import Callable


def _events(drive: Callable[[FakeLoop], None]) -> list[Event]:
    events: list[Event] = []
    loop = FakeLoop(events.append)
    drive(loop)
    return events


def test_a_newer_snapshot_replaces_one_that_was_not_yet_taken() -> None:
    woken: list[int] = []
    box = Mailbox(lambda: woken.append(1), lambda: 0.0)

    def drive(loop: FakeLoop) -> None:
        loop.open("a b c")
        loop.run(50)

    for event in _events(drive):
        box.put(event)
    letters = box.take()
    changes = [letter.event for letter in letters if isinstance(letter.event, Changed)]
    assert [len(change.snapshot.prefix) for change in changes] == [3, 53]
    assert woken == [1]
    assert box.take() == []


def test_progress_replaces_progress_of_the_same_request_only() -> None:
    box = Mailbox(lambda: None, lambda: 0.0)
    for request, done in ((1, 1), (1, 2), (2, 1), (1, 3)):
        box.put(Progress(request=request, what="prefill", done=done, total=9, unit="tokens"))
    assert [(e.event.request, e.event.done) for e in box.take()] == [(1, 2), (2, 1), (1, 3)]


def test_the_box_wakes_again_after_it_was_emptied() -> None:
    woken: list[int] = []
    box = Mailbox(lambda: woken.append(1), lambda: 0.0)
    box.put(Finished(request=1))
    box.take()
    box.put(Finished(request=2))
    assert len(woken) == 2


def test_a_late_answer_to_a_look_that_was_left_is_dropped() -> None:
    events: list[Event] = []
    loop = FakeLoop(events.append)
    told: list[str] = []
    conductor = Conductor(loop, lambda text, severity: told.append(text))
    conductor.load("x", device="cpu", dtype="auto", threads=1, settings=loop.settings, seed=7)
    conductor.open("a b c d")
    for event in events:
        conductor.handle(event)
    events.clear()
    conductor.look_at(3)
    late = [event for event in events if isinstance(event, Looked)]
    conductor.back_to_now()
    for event in late:
        conductor.handle(event)
    assert conductor.then is None
    assert conductor.view().moment == "now"


def test_a_key_counts_as_soon_as_the_prompt_is_shown() -> None:
    events: list[Event] = []
    loop = FakeLoop(events.append)
    conductor = Conductor(loop, lambda text, severity: None)
    conductor.load("x", device="cpu", dtype="auto", threads=1, settings=loop.settings, seed=7)
    conductor.open("a b c d")
    for event in events:
        if isinstance(event, Finished):
            continue
        conductor.handle(event)
    conductor.step()
    assert ("step",) in loop.calls


async def test_a_run_shows_every_token_at_the_end_and_says_why_it_stopped() -> None:
    async with driven() as world:
        world.loop.steps_a_run = 40
        await world.press("a")
        assert len(world.labels) == 45
        assert "40 steps" in world.notice


async def test_paint_time_is_measured_by_the_clock_and_shown() -> None:
    async with driven() as world:
        now = [0.0]

        def clock() -> float:
            now[0] += 0.005
            return now[0]

        world.app._clock = clock
        await world.press("space")
        assert world.conductor.paint_ms is not None
        assert world.conductor.paint_ms > 0
        history = world.main.view.history
        assert history is not None
        assert history.paint_ms == world.conductor.paint_ms


async def test_a_new_model_goes_on_with_the_text() -> None:
    async with driven() as world:
        await world.press("space", "plus")
        text = world.conductor.snapshot.text if world.conductor.snapshot else ""
        world.app.load("another")
        await world.settle()
        assert world.calls("open")[-1] == (text,)
        assert world.conductor.settings.temperature == 0.9


async def test_what_landed_is_marked_for_a_moment_unless_animations_are_off() -> None:
    async with driven() as world:
        await world.press("space")
        assert not world.main.panels.text._landed
        world.app.animation_level = "full"
        await world.press("space")
        assert world.main.panels.text._landed


async def test_a_paint_that_went_with_its_window_holds_no_mail_up() -> None:
    async with driven() as world:
        await world.press("question_mark")
        world.app._painting_since = 0.0
        world.app._paints += 1  # as if its answer had been the closed window's to give
        await world.press("escape", "space")
        assert world.labels[-1] == "␣Sydney"


async def test_what_still_comes_in_on_the_way_out_finds_no_screen_and_does_no_harm() -> None:
    async with driven() as world:
        app = world.app
    assert not app.screen_stack
    app._rounds_left = 1
    world.loop.step()
    app._pulse()
    await app._find_again()
    app.tell("too late", "error")
