"""A paste is text, whatever is in it: never keys, never out of order, nothing invisible."""

from __future__ import annotations

from itertools import pairwise

import hypothesis.strategies as st
import pytest
from hypothesis import given
from textual import events
from textual.widgets import TextArea

from tests.app.driving import driven
from tokenloop.app.driver import PASTE_BEGINS, PASTE_ENDS, PasteParser
from tokenloop.app.prompt_area import PromptArea

EVIL = "AA\x1b]0;PWN\x07BB\x1b[31mCC"


def parsed(*chunks: str) -> list[events.Event]:
    parser = PasteParser()
    return [event for chunk in chunks for event in parser.feed(chunk)]


def test_an_esc_inside_a_paste_stays_inside_it() -> None:
    before, paste, after = parsed(f"x{PASTE_BEGINS}{EVIL}{PASTE_ENDS}y")
    assert isinstance(before, events.Key)
    assert isinstance(paste, events.Paste)
    assert paste.text == EVIL.replace("\x1b", "\x1a")
    assert isinstance(after, events.Key)
    assert (before.key, after.key) == ("x", "y")


@given(
    st.text(st.sampled_from("a\x1b[201~\n"), max_size=12).filter(lambda s: PASTE_ENDS not in s),
    st.lists(st.integers(1, 40), max_size=6),
)
def test_a_paste_is_whole_however_the_terminal_cuts_it(text: str, cuts: list[int]) -> None:
    stream = f"{PASTE_BEGINS}{text}{PASTE_ENDS}q"
    if (text + PASTE_ENDS).find(PASTE_ENDS) != len(text):
        return  # such a text ends the paste earlier, in any terminal
    edges = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    chunks = [stream[a:b] for a, b in pairwise(edges)]
    *pastes, key = parsed(*chunks)
    assert "".join(paste.text for paste in pastes if isinstance(paste, events.Paste)) == (
        text.replace("\x1b", "\x1a")
    )
    assert isinstance(key, events.Key)
    assert key.key == "q"


def test_outside_a_paste_escape_sequences_are_keys_as_ever() -> None:
    keys = parsed("\x1b[A", f"{PASTE_BEGINS}a{PASTE_ENDS}", "\x1b[B")
    assert [event.key for event in keys if isinstance(event, events.Key)] == ["up", "down"]


@pytest.mark.parametrize(("key", "area"), [("e", TextArea), ("t", PromptArea)])
async def test_what_cant_be_shown_is_left_out_with_a_notice(key: str, area: type[TextArea]) -> None:
    async with driven() as world:
        await world.press(key)
        world.app.post_message(events.Paste("a\x1ab\u202ec\x9bd\x07e\r\nf\tg"))
        await world.settle()
        assert world.app.screen.query_one(area).text.endswith("abcde\nf\tg")
        note = str(world.app.screen.query_one(".note").render())
        assert note == "4 unprintable characters were left out of the paste"


async def test_the_start_screen_says_so_too() -> None:
    async with driven(prompt=None) as world:
        world.app.post_message(events.Paste("a\x07b"))
        await world.settle()
        assert world.app.screen.query_one(PromptArea).text == "ab"
        notice = str(world.app.screen.query_one("#start-notice").render())
        assert notice == "1 unprintable character was left out of the paste"


async def test_a_paste_without_a_window_is_no_command() -> None:
    async with driven() as world:
        made = len(world.loop.calls)
        world.app.post_message(events.Paste("lrae"))
        await world.settle()
        assert world.loop.calls[made:] == []
        assert "a paste needs a window" in world.notice
