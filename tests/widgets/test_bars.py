from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment

from tokenloop_widgets.drawing.bars import (
    bar,
    double_bar,
    inside,
    line_bar,
    sparkline,
    stacked_bar,
)
from tokenloop_widgets.palette import Palette

parts = st.floats(0, 1)
widths = st.integers(1, 80)


def text(segments: list[Segment]) -> str:
    return "".join(segment.text for segment in segments)


def halves(segments: list[Segment], palette: Palette) -> tuple[int, int]:
    """Half cells that are blue above and amber below."""
    upper = lower = 0
    for segment in segments:
        for glyph in segment.text:
            both = glyph == "▀" and segment.style is not None and segment.style.bgcolor is not None
            behind = segment.style.bgcolor.name if both else ""
            upper += {"▀": 2, "▘": 1}.get(glyph, 0)
            lower += {"▄": 2, "▖": 1}.get(glyph, 0) + 2 * (behind == palette.sampler.lower())
    return upper, lower


def test_a_bar_is_as_long_as_its_part_to_an_eighth(dark: Palette) -> None:
    draw = [text(bar(part, 8, dark.model, dark.track)).rstrip() for part in (0, 0.5, 33 / 64, 1)]
    assert draw == ["", "████", "████▏", "████████"]


def test_a_thin_bar_is_as_long_as_its_part_to_half_a_cell(dark: Palette) -> None:
    assert text(line_bar(0.5, 5, dark.model, dark.track, dark.ground)) == "━━╸──"
    assert text(line_bar(0, 5, dark.model, dark.track, dark.ground)) == "─────"


def test_a_bar_of_length_zero_is_drawn_as_nothing(dark: Palette) -> None:
    assert text(double_bar(0, 0, 12, dark)).strip() == ""
    assert text(bar(0, 12, dark.model, dark.track)).strip() == ""


@given(parts, parts, widths)
def test_two_bars_in_a_row_are_each_right_to_half_a_cell(
    dark: Palette, upper: float, lower: float, width: int
) -> None:
    segments = double_bar(upper, lower, width, dark)
    assert len(text(segments)) == width
    above, below = halves(segments, dark)
    assert abs(above - upper * width * 2) <= 1.5
    assert abs(below - lower * width * 2) <= 1.5


@given(parts, parts, widths)
def test_the_longer_probability_never_has_the_shorter_bar(
    dark: Palette, upper: float, lower: float, width: int
) -> None:
    above, below = halves(double_bar(upper, lower, width, dark), dark)
    if upper > lower:
        assert above >= below
    if lower > upper:
        assert below >= above


@given(st.lists(st.floats(0, 1e4), min_size=1, max_size=6), widths)
def test_parts_of_a_stacked_bar_share_its_width(
    dark: Palette, amounts: list[float], width: int
) -> None:
    colours = (dark.model, dark.sampler, dark.memory, dark.ready, dark.soft, dark.text)
    lengths = [(amount, colours[index], "n") for index, amount in enumerate(amounts)]
    segments = stacked_bar(lengths, width, dark)
    assert len(text(segments)) == width
    total = sum(amounts)
    for amount, colour, _ in lengths if total else ():
        drawn = sum(len(s.text) for s in segments if s.style and _behind(s) == colour.lower())
        assert abs(drawn - amount / total * width) <= 1


def _behind(segment: Segment) -> str:
    assert segment.style is not None
    assert segment.style.bgcolor is not None
    return segment.style.bgcolor.name


def test_a_label_stands_inside_behind_a_bound_or_is_left_out() -> None:
    assert inside("abc", 9) == "▏  abc   "
    assert inside("abcdef", 5) == "▏    "
    assert inside("abcdefghij", 9) == "▏abcdef… "
    assert inside("a", 1) == " "
    assert inside("a", 0) == ""


def test_a_sparkline_starts_at_zero() -> None:
    assert sparkline([0, 4, 8], 8) == ["▁▄█"]
    assert sparkline([4, 8], 8, rows=2) == [" █", "██"]
    assert sparkline([0, 0], 0) == ["▁▁"]
