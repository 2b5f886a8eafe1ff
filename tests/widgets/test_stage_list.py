"""The list of the sampler's stages."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from tests.widgets.strategies import choices, labels
from tests.widgets.strips import check, lines
from tokenloop.records import Choice, StageRecord
from tokenloop_widgets.drawing.stage_list import (
    MARKS,
    Cell,
    Cursor,
    StageRow,
    first_row,
    stage_list_strips,
)
from tokenloop_widgets.palette import DARK, Palette
from tokenloop_widgets.recorded import Recording

PALETTE = Palette.from_theme(DARK)

TOP_K = StageRecord(
    name="top_k",
    settings={"k": 40},
    survivors_before=49_152,
    survivors=40,
    mass_cut=0.093,
    entropy_before_bits=3.58,
    entropy_bits=2.43,
)
XTC = structs.replace(TOP_K, name="xtc", survivors=49_152, skipped="by chance: 0.63 is not below")
ROWS = (
    StageRow("top-k", "acts", (Cell("", "40", plain=True),), TOP_K),
    StageRow("XTC", "idle", (Cell("p", "0.5"), Cell("≥", "0.1", plain=True)), XTC),
    StageRow("top-p", "switched off", (Cell("", "0.95"),), TOP_K),
    StageRow("DRY", "off", (Cell("×", "0"), Cell("base", "1.75")), TOP_K),
    StageRow("top-a", "absent", (Cell("", "0"),)),
    StageRow("seed", "none", (Cell("", "7"),)),
)


def text(width: int, height: int, row: int = 0) -> list[str]:
    return lines(stage_list_strips(ROWS, Cursor(row), width, height, PALETTE))


def test_each_row_says_what_its_stage_does_now() -> None:
    shown = text(66, 6)
    assert shown[0].startswith("▌● top-k       40")
    assert "49,152 → 40   −9.3 %" in shown[0]
    assert shown[1].startswith(" ◌ XTC         p 0.5  ≥ 0.1")
    assert shown[1].endswith("  by chance ")
    assert shown[2].startswith(" ✕ top-p")
    assert "switched off" in shown[2]
    assert "0.95" not in shown[2]
    assert shown[3].split() == ["○", "DRY", "off"]
    assert "not in the chain" in shown[4]
    assert shown[5].split() == ["seed", "7"]


def test_a_row_that_is_off_shows_its_settings_where_the_cursor_is() -> None:
    assert "× 0  base 1.75" in text(66, 6, 3)[3]


@pytest.mark.parametrize("width", range(20, 90))
def test_the_selected_setting_is_always_in_view(width: int) -> None:
    many = tuple(Cell(f"name{n}", f"<{n}>") for n in range(6))
    row = StageRow("penalties", "acts", many, TOP_K)
    for cell in range(6):
        line = lines(stage_list_strips([row], Cursor(0, cell), width, 1, PALETTE))[0]
        assert f"name{cell} <" in line or width < 30


def test_the_marks_differ_without_colour() -> None:
    assert len(set(MARKS.values())) == len(MARKS)


@given(st.integers(1, 60), st.integers(0, 59), st.integers(1, 30))
def test_the_cursor_is_always_in_the_window(rows: int, cursor: int, height: int) -> None:
    cursor = min(cursor, rows - 1)
    top = first_row(rows, cursor, height)
    assert top <= cursor < top + height
    assert top == 0 or top + height <= rows


def test_more_rows_above_and_below_are_told() -> None:
    shown = text(66, 3, 3)
    assert shown[0].endswith("↑")
    assert shown[-1].endswith("↓")


def test_the_draw_stands_below_where_there_is_room(recording: Recording) -> None:
    choice = recording.moments[0].choice
    for height, there in ((8, False), (9, True), (20, True)):
        shown = lines(stage_list_strips(ROWS, Cursor(), 66, height, PALETTE, choice=choice))
        assert any("▲ u = " in line for line in shown) is there
        assert any(line.startswith("▌") for line in shown)


cells = st.lists(st.builds(Cell, labels | st.just(""), labels, st.booleans()), max_size=6)


@given(
    st.lists(
        st.builds(
            StageRow,
            labels,
            st.sampled_from(list(MARKS)),
            cells.map(tuple),
            st.sampled_from([None, TOP_K, XTC]),
        ),
        min_size=1,
        max_size=30,
    ),
    st.none() | choices(),
    st.integers(0, 160),
    st.integers(0, 40),
    st.data(),
)
def test_every_size(
    rows: list[StageRow], choice: Choice | None, width: int, height: int, data: st.DataObject
) -> None:
    cursor = Cursor(
        data.draw(st.integers(0, len(rows) - 1)),
        data.draw(st.integers(0, 5)),
        data.draw(st.booleans()),
    )
    strips = stage_list_strips(rows, cursor, width, height, PALETTE, choice=choice)
    check(strips, width, height)
