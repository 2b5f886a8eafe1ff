"""Keys that arrive together: each acts after the one before it, in the window that it opened."""

from __future__ import annotations

import pytest
from textual import events
from textual.widgets import Input, TextArea

from tests.app.driving import WINDOWS, Driven, driven
from tokenloop.app.prompt_area import PromptArea

NAMES = {
    " ": "space",
    "/": "slash",
    "?": "question_mark",
    "[": "left_square_bracket",
    "\r": "enter",
}
CHARACTERS = {name: character for character, name in NAMES.items()}
TEXT = "The capital of Australia is"


async def at_once(world: Driven, typed: str, *more: str) -> None:
    """Post keys without waiting, as a terminal does that read them in one go."""
    for character in typed:
        world.app.post_message(events.Key(NAMES.get(character, character), character))
    for key in more:
        world.app.post_message(events.Key(key, None))
    await world.settle()


@pytest.mark.parametrize(
    ("key", "screen"),
    WINDOWS,
)
async def test_no_key_typed_ahead_reaches_the_session(key: str, screen: type[object]) -> None:
    async with driven() as world:
        made = len(world.loop.calls)
        await at_once(world, CHARACTERS.get(key, key) + "rRalhGe")
        assert {call[0] for call in world.loop.calls[made:]} <= {"configure"}
        assert isinstance(world.app.screen, screen)
        assert len(world.app.screen_stack) == 2


@pytest.mark.parametrize(("key", "area"), [("e", TextArea), ("t", PromptArea)])
async def test_text_typed_ahead_lands_in_the_window(key: str, area: type[TextArea]) -> None:
    async with driven() as world:
        await at_once(world, key + " lx e?")
        assert world.app.screen.query_one(area).text.endswith(" lx e?")
        assert not world.calls("step")


async def test_a_number_typed_ahead_lands_in_the_window() -> None:
    async with driven() as world:
        await at_once(world, "A5")
        assert world.app.screen.query_one(Input).value == "5"


async def test_a_window_is_filled_and_applied_in_one_go() -> None:
    async with driven() as world:
        await at_once(world, "e now", "ctrl+s")
        assert world.calls("edit") == [(f"{TEXT} now", False)]
        await at_once(world, "t then\rr")
        assert world.calls("type") == [(" then", False)]
        assert world.calls("roll") == [()]


async def test_a_prompt_typed_in_one_go_starts_whole_and_the_next_key_is_a_command() -> None:
    async with driven(prompt=None) as world:
        await at_once(world, "Once upon\r ")
        assert world.calls("open") == [("Once upon",)]
        assert world.calls("step") == [()]


async def test_keys_after_esc_reach_the_panels_again() -> None:
    async with driven() as world:
        await at_once(world, "?", "escape", "space", "question_mark", "escape", "space")
        assert len(world.calls("step")) == 2
        assert world.app.screen is world.main


async def test_keys_on_the_panels_keep_their_order() -> None:
    async with driven() as world:
        await at_once(world, "jj\r[", "escape", "r")
        made = [call[0] for call in world.loop.calls if call[0] != "show"]
        assert made == ["load", "open", "force", "look", "roll"]


async def test_a_paste_goes_where_the_key_before_it_led() -> None:
    async with driven() as world:
        world.app.post_message(events.Key("t", "t"))
        world.app.post_message(events.Paste(" pasted"))
        await at_once(world, " on")
        assert world.app.screen.query_one(PromptArea).text == " pasted on"


async def test_a_key_that_went_with_its_widget_holds_up_the_next_ones_only_for_a_moment() -> None:
    async with driven() as world:
        world.app._rounds_left = 1  # as if what followed that key had gone as well
        world.app.post_message(events.Key("space", " "))
        await world.pilot.pause()
        assert not world.calls("step")
        await world.settle()
        assert world.calls("step") == [()]


async def test_keys_for_a_plot_wait_for_it_and_act_in_their_order() -> None:
    async with driven() as world:
        world.loop.hold = True
        await at_once(world, "fll\r")
        assert not world.calls("configure")
        world.loop.release()
        await world.settle()
        [(settings,)] = world.calls("configure")
        assert settings.temperature == pytest.approx(1.0)


async def test_a_plot_of_what_was_set_before_is_not_walked() -> None:
    async with driven() as world:
        await at_once(world, "f0l\r")
        assert [settings.temperature for (settings,) in world.calls("configure")] == [0.0, 0.1]


async def test_keys_after_one_for_a_plot_wait_too() -> None:
    async with driven() as world:
        await at_once(world, "fl\r", "escape", "space")
        [(settings,)] = world.calls("configure")
        assert settings.temperature == pytest.approx(0.9)
        assert world.app.screen is world.main
        assert world.calls("step") == [()]


async def test_what_needs_no_plot_acts_before_it_is_there() -> None:
    async with driven() as world:
        world.loop.hold = True
        await at_once(world, "fj")
        world.loop._waiting.pop(0)()
        await world.settle()
        assert world.calls("sweep") == [("temperature",), ("top_p",)]


@pytest.mark.parametrize("key", ["d", "o"])
async def test_rows_that_are_still_computed_are_walked_when_they_are_there(key: str) -> None:
    async with driven() as world:
        world.loop.hold = True
        await at_once(world, key + "j\r")
        assert not world.calls("force")
        world.loop.release()
        await world.settle()
        assert len(world.calls("force")) == 1
        assert world.app.screen is world.main


async def test_a_search_typed_in_one_go_takes_what_it_found() -> None:
    async with driven() as world:
        await at_once(world, "/Perth\r\r")
        assert world.calls("force") == [(3,)]


async def test_an_answer_that_does_not_come_holds_up_esc_only_for_a_moment() -> None:
    async with driven() as world:
        world.loop.hold = True
        await at_once(world, "fll", "escape")
        await world.app._find_again()
        await world.app._find_again()
        await world.settle()
        assert world.app.screen is world.main
        world.loop.release()
        await world.settle()
        assert not world.calls("configure")
