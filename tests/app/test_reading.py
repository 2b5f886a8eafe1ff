"""A text on its way to the model: shown, stoppable, and given back where it can't be used."""

from __future__ import annotations

import pytest
from textual.widgets import TextArea

from tests.app.driving import Driven, driven
from tokenloop.app.prompt_area import PromptArea
from tokenloop.app.screens.editor import EditorScreen, TypeScreen
from tokenloop.app.screens.start import StartScreen
from tokenloop.app.tick import Tick
from tokenloop.loop.events import STOPPED, Failed, Finished

TEXT = "The capital of Australia is"
TOO_LONG = "the text is 14,001 tokens: the context holds 8,192"


def note_of(world: Driven) -> str:
    """The line below the open window."""
    return str(world.app.screen.query_one(".note").render())


async def reading(world: Driven, *keys: str) -> None:
    """Hand a text over to a loop that takes its time, long enough for the status to say so."""
    world.loop.hold = True
    await world.press(*keys)
    for _ in range(3):
        world.app._pulse()
    await world.settle()


GIVEN = {
    "type": ("t", *" for sure", "enter"),
    "edit": ("e", *" not", "ctrl+s"),
    "new": ("n", *"Once", "enter"),
}


@pytest.mark.parametrize("command", GIVEN)
async def test_while_a_text_is_read_esc_stops_and_nothing_else_is_asked(command: str) -> None:
    keys = ["space" if key == " " else key for key in GIVEN[command]]
    async with driven() as world:
        await reading(world, *keys)
        assert "esc" in world.footer
        assert "stop" in world.footer
        assert "roll" not in world.footer
        made = len(world.loop.calls)
        for key in ("space", "left", "r", "R", "a", "A", "t", "e", "plus", "s", "enter", "end"):
            world.main.hush()
            await world.press(key)
            assert world.app.screen is world.main, key
            if key != "end":
                assert "is being read: esc stops" in world.notice, key
        assert world.loop.calls[made:] == []
        await world.press("escape")
        assert world.calls("pause")
        world.loop.release()
        await world.settle()
        assert not world.calls("step")
        world.main.hush()
        await world.settle()
        assert "roll" in world.footer


async def test_what_is_read_stands_in_the_ghosts_place() -> None:
    async with driven() as world:
        await reading(world, "t", "space", *"Canberra", "enter")
        text = world.main.panels.text
        shown = "".join(text.render_line(row).text for row in range(text.size.height))
        assert "␣Canberra" in shown
        assert "is being read" in shown
        world.loop.release()
        await world.settle()
        shown = "".join(text.render_line(row).text for row in range(text.size.height))
        assert "is being read" not in shown


async def test_of_an_edit_the_new_part_is_shown_as_read() -> None:
    async with driven() as world:
        await reading(world, "e", *"lamabad" * 20, "ctrl+s")
        assert world.main.view.reading.startswith("lamabadlam")
        assert world.main.view.reading.endswith("…")


async def refuse(world: Driven, reason: str, *keys: str) -> None:
    world.loop.fail_next = reason
    await world.press(*keys)


async def test_an_edit_that_cant_be_used_is_back_in_the_editor_with_the_reason() -> None:
    async with driven() as world:
        await world.press("e", *" now", "tab", "space")
        await refuse(world, TOO_LONG, "ctrl+s")
        assert isinstance(world.app.screen, EditorScreen)
        assert world.app.screen.query_one(TextArea).text == f"{TEXT} now"
        assert world.app.screen.query_one(Tick).value
        assert note_of(world) == TOO_LONG
        await world.press("x")
        assert TOO_LONG not in note_of(world)
        await world.press("ctrl+s")
        assert world.calls("edit")[-1] == (f"{TEXT} nowx", True)
        assert world.app.screen is world.main


async def test_a_text_to_append_that_cant_be_used_is_back_in_its_window() -> None:
    async with driven() as world:
        await refuse(world, TOO_LONG, "t", *"abc", "enter")
        assert isinstance(world.app.screen, TypeScreen)
        assert world.app.screen.query_one(PromptArea).text == "abc"
        assert note_of(world) == TOO_LONG
        await world.press("d", "enter")
        assert world.calls("type") == [("abc", False), ("abcd", False)]


async def test_a_prompt_that_cant_be_used_is_back_on_the_start_screen() -> None:
    async with driven(prompt=None) as world:
        await refuse(world, TOO_LONG, *"abc", "enter")
        screen = world.app.screen
        assert isinstance(screen, StartScreen)
        assert screen.query_one(PromptArea).text == "abc"
        assert str(screen.query_one("#start-notice").render()) == TOO_LONG
        await world.press("end", "d", "enter")
        assert world.calls("open") == [("abc",), ("abcd",)]
        assert world.app.screen is world.main


async def test_a_prompt_from_the_command_line_that_cant_be_used_is_on_the_start_screen() -> None:
    async with driven(prompt="far too long", hold=True) as world:
        world.loop.hold = False
        world.loop.release()
        world.conductor.open("far too long")
        await world.settle()
        await refuse(world, TOO_LONG, "n", "enter")
        assert isinstance(world.app.screen, StartScreen)
        assert world.app.screen.query_one(PromptArea).text == "far too long"


async def test_a_prefill_that_was_stopped_gives_the_text_back() -> None:
    async with driven() as world:
        await refuse(world, STOPPED, "t", *"abc", "enter")
        assert world.app.screen.query_one(PromptArea).text == "abc"
        assert note_of(world) == STOPPED


async def test_a_text_stopped_before_the_loop_began_on_it_is_not_lost() -> None:
    async with driven() as world:
        world.loop.hold = True
        await world.press("t", *"abc", "enter", "escape")
        request = world.conductor._read_request
        assert request is not None
        world.app._mailbox.put(Finished(request=request))
        await world.settle()
        assert world.app.screen.query_one(PromptArea).text == "abc"
        assert note_of(world) == STOPPED


async def test_a_text_comes_back_only_when_no_other_window_is_open() -> None:
    async with driven() as world:
        world.loop.hold = True
        await world.press("e", *" now", "ctrl+s", "question_mark")
        request = world.conductor._read_request
        assert request is not None
        world.app._mailbox.put(Failed(request=request, message=TOO_LONG))
        await world.settle()
        assert len(world.app.screen_stack) == 2
        await world.press("escape")
        world.app._pulse()
        await world.settle()
        assert isinstance(world.app.screen, EditorScreen)
        assert world.app.screen.query_one(TextArea).text == f"{TEXT} now"


async def test_an_empty_text_is_refused_where_it_stands() -> None:
    async with driven() as world:
        await world.press("e", "ctrl+a", *["ctrl+k"], "ctrl+s")
        assert isinstance(world.app.screen, EditorScreen)
        assert "empty" in note_of(world)
        await world.press("escape", "t", "enter")
        assert isinstance(world.app.screen, TypeScreen)
        assert "nothing is typed" in note_of(world)
        assert not world.calls("edit")
        assert not world.calls("type")


async def test_ticking_specials_alone_reads_the_text_again_and_says_so() -> None:
    async with driven(prompt="a <|im_end|> b") as world:
        await world.press("e", "tab", "space")
        assert "in an unchanged text, all of them do" in note_of(world)
        await world.press("ctrl+s")
        assert world.calls("edit") == [("a <|im_end|> b", True)]
        assert "edited: kept" in world.notice


@pytest.mark.parametrize("key", ["t", "e"])
async def test_what_is_typed_for_a_window_that_did_not_open_is_no_command(
    key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tokenloop.app.screens.main.TYPING_SECONDS", 60.0)
    async with driven() as world:
        await reading(world, "t", *"abc", "enter")
        made = len(world.loop.calls)
        await world.press(key, *"quiet", "space", "enter")
        assert world.app.is_running
        assert "is being read: esc stops" in world.notice
        world.loop.release()
        await world.settle()
        await world.press(*"rla", "enter")
        assert "nothing was done" in world.notice
        assert world.loop.calls[made:] == []
        assert world.app.screen is world.main
        await world.press("escape", "r")
        assert world.calls("roll") == [()]


async def test_after_a_pause_keys_are_commands_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokenloop.app.screens.main.TYPING_SECONDS", 0.01)
    async with driven() as world:
        await reading(world, "t", *"abc", "enter")
        await world.press("t")
        world.loop.release()
        await world.pilot.pause(0.05)
        await world.settle()
        await world.press("r")
        assert world.calls("roll") == [()]
