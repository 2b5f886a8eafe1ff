from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests.widgets.strategies import prefixes
from tests.widgets.strips import lines
from tokenloop.records import How, PrefixToken, Token
from tokenloop_widgets.drawing.cells import safe
from tokenloop_widgets.drawing.text import Marks, text_strips, total_rows
from tokenloop_widgets.drawing.text_layout import TextLayout
from tokenloop_widgets.palette import DARK, Palette
from tokenloop_widgets.recorded import Recording

PALETTE = Palette.from_theme(DARK)


def item(text: str, how: How = "given", p: float | None = 0.5) -> PrefixToken:
    label = text.replace(" ", "␣").replace("\n", "⏎")
    token = Token(id=1, text=text, bytes_hex=text.encode().hex(), label=label)
    return PrefixToken(token=token, how=how, p=p, rank=1)


def laid_out(width: int, *items: PrefixToken, probabilities: bool = False) -> TextLayout:
    layout = TextLayout(width, probabilities=probabilities)
    layout.update(items)
    return layout


def drawn(
    width: int, *items: PrefixToken, marks: Marks | None = None, probabilities: bool = False
) -> list[str]:
    layout = laid_out(width, *items, probabilities=probabilities)
    marks = marks or Marks()
    rows = total_rows(layout, marks) * (2 if probabilities else 1)
    return [line.rstrip() for line in lines(text_strips(layout, items, rows, PALETTE, marks=marks))]


def test_one_run_a_token_wrapped_at_token_bounds() -> None:
    text = drawn(16, item("The"), item(" capital"), item(" of"), item(" Australia"))
    assert text == [" The ␣capital", " ␣of ␣Australia"]


def test_a_newline_ends_its_line_after_its_glyph() -> None:
    assert drawn(30, item("a"), item("\n"), item("b"), item("\n\n")) == [" a ⏎", " b ⏎⏎"]
    ghost = Marks(ghost="x")
    assert drawn(30, item("a"), item("\n"), marks=ghost) == [" a ⏎", "▏x"]


def test_a_token_wider_than_the_row_is_wrapped_alone() -> None:
    assert drawn(6, item("a"), item("bcdefghij"), item("k")) == [" a", " bcde", " fghi", " j k"]


def test_the_persons_text_is_told_from_the_models_without_colour() -> None:
    text = drawn(
        60, item("a"), item(" b"), item(" c", "drawn"), item(" d", "forced"), item(" e", "greedy")
    )
    assert text == [" a ␣b│␣c◆␣d│␣e"]


def test_the_models_text_is_bold(dark: Palette) -> None:
    items = (item("a"), item("b", "drawn"))
    [strip] = text_strips(laid_out(20, *items), items, 1, dark)
    bold = {s.text: bool(s.style and s.style.bold) for s in strip if s.text.strip()}
    assert bold["a"] is False
    assert bold["b"] is True


def test_the_token_looked_at_stands_in_brackets() -> None:
    assert drawn(60, item("a"), item(" b"), item(" c"), marks=Marks(cursor=1)) == [" a[␣b]␣c"]


def test_the_ghost_stands_at_the_end_with_what_makes_it_fact() -> None:
    marks = Marks(ghost="␣Sydney", hint="▸ space makes it fact")
    assert drawn(60, item("a"), marks=marks) == [" a▏␣Sydney  ▸ space makes it fact"]
    assert drawn(20, item("a"), marks=marks) == [" a▏␣Sydney"]
    assert drawn(9, item("abcd"), marks=marks) == [" abcd", "▏␣Sydney"]


def test_more_above_and_below_is_told(dark: Palette) -> None:
    items = tuple(item(word) for word in ("one", "two", "three", "four"))
    layout = laid_out(8, *items)
    ends = [
        [line[-1] for line in lines(text_strips(layout, items, height, dark, top=top))]
        for top, height in ((0, 4), (0, 2), (1, 2), (2, 2), (1, 1))
    ]
    assert ends == [[" "] * 4, [" ", "↓"], ["↑", "↓"], ["↑", " "], ["↕"]]


def test_probabilities_stand_under_their_tokens() -> None:
    text = drawn(60, item("a", p=None), item(" Sydney", p=0.36), item(".", p=0.001))
    assert text == [" a ␣Sydney ."]
    text = drawn(
        60,
        item("a", p=None),
        item(" Sydney", p=0.36),
        item(".", p=0.001),
        item("x", p=1.0),
        probabilities=True,
    )
    assert text == [" a    ␣Sydney .    x", " —    36 %    <1 % 100%"]


@given(prefixes(), st.integers(1, 60), st.booleans())
def test_every_token_is_printed_once_in_order(
    prefix: tuple[PrefixToken, ...], width: int, probabilities: bool
) -> None:
    layout = laid_out(width, *prefix, probabilities=probabilities)
    printed: dict[int, str] = {}
    at = (-1, -1)
    for number, row in enumerate(layout.rows):
        for run in row:
            assert (number, run.column) > at
            assert run.column + cell_len(run.text) <= max(width, 1)
            at = (number, run.column)
            printed[run.position] = printed.get(run.position, "") + run.text
    assert list(printed) == list(range(len(prefix)))
    for position, text in printed.items():
        if "…" not in text:
            assert text == safe(prefix[position].token.label)


@given(prefixes(), st.integers(0, 30), prefixes(10), st.integers(1, 40), st.booleans())
def test_extending_and_rewinding_lays_out_as_from_nothing(
    prefix: tuple[PrefixToken, ...],
    keep: int,
    more: tuple[PrefixToken, ...],
    width: int,
    probabilities: bool,
) -> None:
    layout = laid_out(width, *prefix, probabilities=probabilities)
    after = (*prefix[:keep], *more)
    layout.update(after)
    fresh = laid_out(width, *after, probabilities=probabilities)
    assert layout.rows == fresh.rows
    assert layout.end() == fresh.end()


@given(prefixes(), st.integers(1, 40))
def test_a_tokens_row_holds_its_first_piece(prefix: tuple[PrefixToken, ...], width: int) -> None:
    layout = laid_out(width, *prefix)
    for position in range(len(prefix)):
        row = layout.rows[layout.row_of(position)]
        assert any(run.position == position and run.first for run in row)


def test_a_cell_says_which_token_it_belongs_to() -> None:
    layout = laid_out(16, item("The"), item(" capital"), item(" of"))
    assert [layout.position_at(column, 0) for column in (0, 1, 3, 4, 5, 12, 13)] == [
        None,
        0,
        0,
        None,
        1,
        1,
        None,
    ]
    assert layout.position_at(2, 1) == 2
    assert layout.position_at(2, 7) is None


def test_an_unchanged_beginning_is_not_laid_out_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    items = tuple(item(f" w{number}") for number in range(8000))
    layout = laid_out(80, *items[:-1])
    appended: list[PrefixToken] = []
    append = layout._append
    monkeypatch.setattr(layout, "_append", lambda one: (appended.append(one), append(one)))
    layout.update(items)
    assert appended == [items[-1]]
    assert layout.rows == laid_out(80, *items).rows


def test_a_token_as_likely_as_it_was_is_shaded(recording: Recording, dark: Palette) -> None:
    prefix = recording.moments[0].prefix
    [strip] = text_strips(laid_out(80, *prefix), prefix, 1, dark)
    behind = {s.text: s.style.bgcolor.name for s in strip if s.style and s.style.bgcolor}
    for one in prefix:
        assert behind[one.token.label] == dark.shade(one.p).lower()
