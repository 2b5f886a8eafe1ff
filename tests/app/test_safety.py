"""Nothing that a model, a file or a person says steers the terminal or the app."""

from __future__ import annotations

import hypothesis.strategies as st
from hypothesis import given
from rich.segment import Segment
from rich.style import Style
from textual.color import Color
from textual.document._document import Document

from tests.app.driving import driven
from tests.app.fake_loop import WORDS
from tokenloop.app.editable import Editable
from tokenloop.app.safety import UNSAFE, ControlFilter, strip_controls

NASTY = [number for number, word in enumerate(WORDS) if "[" in word or not word.isprintable()]


async def test_markup_and_escapes_in_tokens_are_only_text() -> None:
    async with driven() as world:
        for token_id in NASTY:
            world.conductor.take(token_id)
            await world.settle()
            await world.press("left_square_bracket", "escape", "t", "escape", "e", "escape", "z")
            picture = world.app.export_screenshot()
            assert not UNSAFE.search(picture.replace("\n", "")), token_id


async def test_markup_in_a_message_is_only_text() -> None:
    async with driven() as world:
        world.loop.fail_next = "model [/nope] [@click=app.quit]x[/] is broken"
        await world.press("space")
        assert world.notice == "model [/nope] [@click=app.quit]x[/] is broken"
        await world.pilot.pause(0.2)


def test_filter_takes_controls_out_and_keeps_width_and_style() -> None:
    style = Style(bold=True)
    line = [Segment("a\x1b[31mb\u202ec\x9bd\u2028", style), Segment("safe")]
    out = ControlFilter().apply(line, Color(0, 0, 0))
    assert [segment.text for segment in out] == ["a[31mbcd", "safe"]
    assert out[0].style == style
    assert sum(s.cell_length for s in out) == sum(s.cell_length for s in line)


def test_filter_leaves_a_safe_line_alone() -> None:
    line = [Segment("❤️ 日本 ␛ 👨‍👩‍👧")]
    assert ControlFilter().apply(line, Color(0, 0, 0)) is line


@given(st.text(st.characters()))
def test_no_text_keeps_a_control_character(text: str) -> None:
    assert not UNSAFE.search(strip_controls(text))


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_an_editor_holds_any_text_without_losing_a_character(text: str) -> None:
    editable = Editable(text)
    held = Document(editable.text).text
    assert editable.restore(held) == text


@given(st.text(st.sampled_from("a\x1b␛\x0c\u2028\r\n\t\ue000")))
def test_stand_ins_are_never_mixed_up_with_what_the_text_holds(text: str) -> None:
    editable = Editable(text)
    assert editable.restore(editable.text) == text
    assert not UNSAFE.search(editable.text.replace("\n", "").replace("\t", ""))


async def test_every_line_of_the_app_passes_the_filter() -> None:
    async with driven() as world:
        assert any(isinstance(f, ControlFilter) and f.enabled for f in world.app._filters)
