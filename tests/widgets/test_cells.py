from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.style import Style

from tests.widgets.strategies import labels
from tokenloop_widgets.drawing.cells import (
    Line,
    chop,
    clip,
    clip_words,
    first_fitting,
    head,
    parts,
    safe,
)

STYLE = Style()


@given(labels, st.integers(0, 20))
def test_clipped_text_fits_and_keeps_whole_characters(text: str, width: int) -> None:
    clipped = clip(text, width)
    assert cell_len(clipped) <= width
    assert clipped == text or clipped == "" or clipped.endswith("…")
    assert text.startswith(head(text, width))


def test_a_wide_character_is_never_split() -> None:
    assert clip("日本", 4) == "日本"
    assert clip("日本", 3) == "日…"
    assert clip("日本", 2) == "…"
    assert clip("日本", 0) == ""


def test_words_are_left_out_whole() -> None:
    text = "k = 262,144 is all"
    assert clip_words(text, 18) == text
    assert clip_words(text, 17) == "k = 262,144 is …"
    assert clip_words(text, 14) == "k = 262,144 …"
    assert clip_words(text, 12) == "k = …"
    assert clip_words(text, 1) == "…"
    assert clip_words(text, 0) == ""


def test_a_figure_that_does_not_fit_is_not_cut() -> None:
    assert Line(20, STYLE).right("12,345", STYLE, 6).strip().text[:6] == "12,345"
    assert Line(20, STYLE).right("12,345", STYLE, 5).strip().text[:5] == "    …"
    assert Line(3, STYLE).right("12,345", STYLE, 6).strip().text == "  …"
    assert Line(20, STYLE).right("12,345", STYLE, 0).strip().text == " " * 20


@given(labels, st.integers(1, 9))
def test_chopped_pieces_fit(text: str, width: int) -> None:
    assert all(0 <= cell_len(piece) <= width for piece in chop(text, width))
    if "…" not in chop(text, width):
        assert "".join(chop(text, width)) == text


def test_a_character_wider_than_the_row_becomes_an_ellipsis() -> None:
    assert chop("a日b", 1) == ["a", "…", "b"]


@pytest.mark.parametrize("text", ["\x1b[2J", "\x9b2J", "\u202eabc", "a\nb", "\x07", "\u2028"])
def test_nothing_that_steers_a_terminal_passes(text: str) -> None:
    assert safe(text).isprintable()
    assert len(safe(text)) == len(text)


def test_joining_text_is_measured_joined_and_kept() -> None:
    family = "👩\u200d👩\u200d👧"
    assert safe(family) == family
    assert Line(10, STYLE).add(family, STYLE).at == 2
    assert Line(10, STYLE).add("❤\ufe0f", STYLE).at == 2


def test_a_label_never_joins_its_neighbours() -> None:
    assert safe("\u0301") == "◌\u0301"
    assert safe("\ufe0f") == "◌\ufe0f"
    assert safe("\u200d👧") == "\ufffd👧"
    assert safe("👩\u200d") == "👩\ufffd"


def test_a_line_is_filled_from_left_to_right() -> None:
    line = Line(20, STYLE).left("ab", STYLE, 4).right("12", STYLE, 5).skip(1)
    assert line.fits("0123456789", STYLE)
    assert not line.fits("!", STYLE)
    assert line.strip().text == "ab     12 0123456789"


def test_items_that_do_not_fit_are_left_out_whole() -> None:
    line = parts(Line(12, STYLE), [("seven77", STYLE), ("five5", STYLE), ("x", STYLE)], gap=1)
    assert line.strip().text == "seven77     "


def test_the_first_way_that_fits_is_said() -> None:
    ways = ("twelve cells", "six ce", "one")
    assert [first_fitting(ways, width) for width in (12, 11, 5, 2)] == [
        "twelve cells",
        "six ce",
        "one",
        "",
    ]
