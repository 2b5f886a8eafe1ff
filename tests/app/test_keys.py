"""Every key of the table does what the table says, with a loop that answers at once."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from tests.app.driving import WINDOWS, Driven, driven
from tokenloop.app.keys import COMMANDS
from tokenloop.sampling import SamplerSettings
from tokenloop_widgets import CandidatesPanel

if TYPE_CHECKING:
    from collections.abc import Callable

STAYING_KEYS = [command.keys.split(",")[0] for command in COMMANDS if command.id != "quit"]


@pytest.mark.parametrize(
    ("before", "key", "call"),
    [
        ("", "space", ("step",)),
        ("", "right", ("step",)),
        ("", "l", ("step",)),
        ("space", "left", ("rewind", 1)),
        ("space", "h", ("rewind", 1)),
        ("space", "backspace", ("rewind", 1)),
        ("", "r", ("roll",)),
        ("", "c", ("check",)),
        ("space", "R", ("resample",)),
        ("", "a", ("run", None)),
        ("down", "enter", ("force", 1)),
        ("j j", "enter", ("force", 2)),
        ("down up", "enter", ("force", 0)),
        ("down k", "enter", ("force", 0)),
        ("end", "enter", ("force", 11)),
        ("end home", "enter", ("force", 0)),
        ("space [", "g", ("rewind_to", 5)),
        ("space shift+left", "G", ("regenerate", 5)),
    ],
)
async def test_a_key_is_one_command_to_the_loop(before: str, key: str, call: tuple[object]) -> None:
    async with driven() as world:
        await world.press(*_names(before))
        made = len(world.loop.calls)
        await world.press(key)
        assert world.loop.calls[made:] == [call]


def _names(keys: str) -> list[str]:
    names = {"[": "left_square_bracket", "]": "right_square_bracket"}
    return [names.get(key, key) for key in keys.split()]


@pytest.mark.parametrize(
    ("key", "temperature"),
    [("minus", 0.7), ("plus", 0.9), ("equals_sign", 0.9), ("0", 0.0)],
)
async def test_temperature_keys_configure_at_once(key: str, temperature: float) -> None:
    async with driven() as world:
        await world.press(key)
        (settings,) = world.calls("configure")[-1]
        assert settings.temperature == temperature
        assert not world.calls("step")


async def test_greedy_goes_back_to_the_temperature_before() -> None:
    async with driven() as world:
        await world.press("plus", "0", "0")
        assert [call[0].temperature for call in world.calls("configure")] == [0.9, 0.0, 0.9]


async def test_temperature_does_not_leave_its_range() -> None:
    async with driven() as world:
        await world.press(*["minus"] * 12)
        assert world.conductor.settings.temperature == 0.0
        await world.press("plus")
        assert world.conductor.settings.temperature == 0.1


@pytest.mark.parametrize(
    ("key", "screen"),
    WINDOWS,
)
async def test_a_key_opens_its_window_and_esc_closes_it(key: str, screen: type[object]) -> None:
    async with driven() as world:
        await world.press(key)
        assert isinstance(world.app.screen, screen)
        await world.press("escape")
        assert world.app.screen is world.main


async def test_palette_opens_and_lists_every_command() -> None:
    async with driven() as world:
        await world.press("ctrl+p")
        assert world.app.screen is not world.main
        await world.pilot.pause(0.3)
        shown = world.app.screen.query("OptionList").first().option_count
        assert shown == len(COMMANDS)


async def test_palette_runs_a_command() -> None:
    async with driven() as world:
        await world.press("ctrl+p")
        await world.press(*"jot", "backspace", "backspace", "backspace", *"roll again")
        await world.pilot.pause(0.5)
        await world.press("enter")
        await world.pilot.pause(0.3)
        assert world.calls("roll")


async def test_the_self_check_is_told_in_one_line() -> None:
    async with driven() as world:
        await world.press("c")
        assert "largest |Δlogit| 0.000031 against 5 positions afresh in float32" in world.notice
        assert "the draw stays" in world.notice


@pytest.mark.parametrize("key", ["q", "ctrl+q"])
async def test_quit_leaves_with_zero_and_closes_the_loop(key: str) -> None:
    async with driven() as world:
        await world.press(key)
    assert world.app.return_code == 0
    assert world.loop.closed


async def test_looking_back_shows_an_earlier_record_and_esc_returns() -> None:
    async with driven() as world:
        await world.press("space", "space")
        now = world.main.view.choice
        await world.press("left_square_bracket", "left_square_bracket")
        view = world.main.view
        assert view.moment == "then"
        assert view.then_position == 5
        assert view.choice is not None
        assert view.choice.position == 5
        assert "␣Sydney" in str(world.main.query_one("#band").render())
        assert world.main.query_one("#band").display
        title = world.main.query_one(CandidatesPanel).border_title
        assert title is not None
        assert "how ␣Sydney was chosen" in str(title)
        await world.press("escape")
        assert world.main.view.choice is now
        assert not world.main.query_one("#band").display


async def test_looking_on_past_the_last_token_is_now() -> None:
    async with driven() as world:
        await world.press("space", "left_square_bracket")
        assert world.main.view.moment == "then"
        await world.press("right_square_bracket")
        assert world.main.view.moment == "now"


async def test_looking_changes_nothing_in_the_session() -> None:
    async with driven() as world:
        await world.press("space")
        before = world.labels
        await world.press("left_square_bracket", "left_square_bracket", "shift+left", "shift+right")
        assert {call[0] for call in world.loop.calls} <= {"load", "open", "step", "look"}
        await world.press("escape")
        assert world.labels == before


async def test_going_back_is_a_rewind_to_before_the_token_looked_at() -> None:
    async with driven() as world:
        await world.press("space", "space", "left_square_bracket", "left_square_bracket", "g")
        assert world.labels == ["The", "␣capital", "␣of", "␣Australia", "␣is"]
        assert world.main.view.moment == "now"


async def test_a_long_walk_asks_for_more_candidates() -> None:
    async with driven() as world:
        await world.press("end", "down")
        assert world.calls("show")


async def test_numbers_and_tab_move_the_focus() -> None:
    async with driven() as world:
        for key, name in zip("12345", _panels(), strict=True):
            await world.press(key)
            assert world.focused == name
        await world.press("tab")
        assert world.focused == "text"
        await world.press("shift+tab")
        assert world.focused == "latency"


def _panels() -> tuple[str, ...]:
    return ("text", "candidates", "sampler", "cache", "latency")


async def test_zoom_shows_one_panel_and_back() -> None:
    async with driven() as world:
        await world.press("4", "z")
        assert world.shown == ["cache"]
        await world.press("3")
        assert world.shown == ["sampler"]
        await world.press("z")
        assert world.shown == list(_panels())


async def test_probabilities_can_be_hidden() -> None:
    async with driven() as world:
        assert world.main.probabilities
        await world.press("p")
        assert not world.main.probabilities


async def test_theme_key_turns_dark_to_light() -> None:
    async with driven() as world:
        assert world.app.theme == "tokenloop-dark"
        await world.press("D")
        assert world.app.theme == "tokenloop-light"


async def test_enter_without_a_highlight_makes_the_marked_draw_fact() -> None:
    async with driven() as world:
        await world.press("enter")
        assert world.calls("step") == [()]
        assert not world.calls("force")


# each key in each wrong moment: a notice or nothing, never an exception, never a change


async def _no_model(world: Driven) -> None:
    assert world.conductor.model is None


async def _running(world: Driven) -> None:
    world.loop.hold = True
    await world.press("a")


async def _stepping(world: Driven) -> None:
    world.loop.hold = True
    await world.press("space")


async def _in_the_past(world: Driven) -> None:
    await world.press("space", "left_square_bracket")


async def _context_full(world: Driven) -> None:
    world.loop.steps_a_run = 64 - 5
    await world.press("a")
    assert world.conductor.snapshot is not None
    assert world.conductor.snapshot.context_full


async def _one_token(world: Driven) -> None:
    world.conductor.open("The")
    await world.settle()


async def _window_open(world: Driven) -> None:
    await world.press("question_mark")


MOMENTS: dict[str, Callable[[Driven], object]] = {
    "running": _running,
    "stepping": _stepping,
    "in the past": _in_the_past,
    "context full": _context_full,
    "one token": _one_token,
    "window open": _window_open,
}


@pytest.mark.parametrize("moment", MOMENTS)
async def test_no_key_breaks_anything_at_any_moment(moment: str) -> None:
    async with driven(size=(100, 30)) as world:
        for key in STAYING_KEYS:
            world.conductor.open("The capital of Australia is")
            world.loop.steps_a_run = 3
            await world.settle()
            await MOMENTS[moment](world)
            await world.pilot.press(key, "escape")
            if world.app.screen is not world.main:
                await world.pilot.press("escape")
            world.loop.release()
            await world.settle()
            assert world.app.screen is world.main, key


async def test_no_key_breaks_anything_before_a_model_is_there() -> None:
    async with driven(size=(80, 24), hold=True) as world:
        for key in STAYING_KEYS:
            await world.press(key)
            await world.press("escape")
            assert world.app.screen is world.main, key
        assert {call[0] for call in world.loop.calls} <= {"load", "pause"}
        world.loop.release()
        await world.settle()
        assert world.labels[-1] == "␣is"


async def test_while_running_a_key_says_why_not() -> None:
    async with driven() as world:
        await _running(world)
        made = len(world.loop.calls)
        for key in ("space", "left", "e", "t", "left_square_bracket"):
            world.main.hush()
            await world.press(key)
            assert "a pauses" in world.notice, key
            assert world.loop.calls[made:] == []


async def test_in_the_past_nothing_can_be_changed() -> None:
    async with driven() as world:
        await _in_the_past(world)
        made = len(world.loop.calls)
        changing = ("minus", "0", "enter", "b", "less_than_sign", "greater_than_sign")
        for key in ("space", "left", "r", "R", "a", "A", "e", "t", "s", *changing):
            world.main.hush()
            await world.press(key)
            assert "back to now" in world.notice, key
            assert world.loop.calls[made:] == []
            assert world.app.screen is world.main


async def test_pause_and_esc_reach_a_running_loop() -> None:
    async with driven() as world:
        await _running(world)
        await world.press("a")
        await world.press("escape")
        assert world.calls("pause") == [(), ()]


async def test_a_held_space_does_not_queue_more_than_two_steps() -> None:
    async with driven() as world:
        world.loop.hold = True
        await world.press(*["space"] * 20)
        assert len(world.calls("step")) == 2


async def test_the_sampler_can_be_turned_while_the_loop_runs() -> None:
    async with driven() as world:
        await _running(world)
        await world.press("plus")
        assert world.calls("configure")


async def test_context_full_is_said_and_rewinding_goes_on() -> None:
    async with driven() as world:
        await _context_full(world)
        await world.press("space")
        assert "context full" in world.notice
        assert world.main.panels.text._marks.hint == "▸ no room: context full"
        await world.press("left")
        assert world.main.view.choice is not None
        assert world.main.panels.text._marks.hint == "▸ space makes it fact"


async def test_greedy_says_that_nothing_can_be_rolled() -> None:
    async with driven() as world:
        await world.press("0", "r")
        assert "nothing is drawn" in world.notice
        assert not world.calls("roll")


async def test_greedy_is_rolled_again_where_a_stage_acts_by_chance() -> None:
    async with driven() as world:
        world.conductor.configure(SamplerSettings(temperature=0, xtc_probability=0.5))
        await world.settle()
        await world.press("r")
        assert world.calls("roll") == [()]
        assert not world.notice


async def test_a_failure_is_shown_and_the_session_stays() -> None:
    async with driven() as world:
        world.loop.fail_next = "logits hold a NaN at step 1, id 7: nothing was drawn"
        before = world.labels
        await world.press("space")
        assert world.notice == "logits hold a NaN at step 1, id 7: nothing was drawn"
        assert world.labels == before
        await world.press("space")
        assert len(world.labels) == len(before) + 1


async def test_ctrl_c_says_how_to_quit_in_the_line_of_keys() -> None:
    async with driven() as world:
        await world.press("ctrl+c")
        assert world.notice == "q or ctrl+q quits"
        await world.press("question_mark", "ctrl+c")
        assert str(world.app.screen.query_one(".note").render()) == "ctrl+q quits"
        assert not world.app._notifications


async def test_ctrl_z_without_a_shell_behind_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokenloop.app.application.shell_waits", lambda: False)
    async with driven() as world:
        await world.press("ctrl+z")
        assert "no shell waits" in world.notice


async def test_ban_and_bias_are_for_the_highlighted_candidate() -> None:
    async with driven() as world:
        await world.press("down")
        banned = world.main.panels.candidates.highlighted
        await world.press("b")
        assert world.calls("configure")[-1][0].logit_bias == {banned: -math.inf}
        await world.press("greater_than_sign")
        assert "b allows it again" in world.notice
        await world.press("b")
        assert world.calls("configure")[-1][0].logit_bias == {}
        await world.press("greater_than_sign", "greater_than_sign")
        assert world.calls("configure")[-1][0].logit_bias == {banned: 2.0}
        row = world.main.panels.candidates.render_line(2).text
        assert "+2" in row
        await world.press("less_than_sign", "less_than_sign", "less_than_sign")
        assert world.calls("configure")[-1][0].logit_bias == {banned: -1.0}
        assert world.main.panels.candidates.highlighted == banned
        assert not world.calls("step")


@pytest.mark.parametrize("key", ["b", "less_than_sign", "greater_than_sign"])
async def test_no_candidate_highlighted_no_bias(key: str) -> None:
    async with driven() as world:
        await world.press(key)
        assert "no candidate is highlighted" in world.notice
        assert not world.calls("configure")


async def test_a_ban_can_be_set_while_the_loop_runs() -> None:
    async with driven() as world:
        await _running(world)
        await world.press("down", "b")
        assert world.calls("configure")
