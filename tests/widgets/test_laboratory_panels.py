"""The laboratory's panels: a cursor over their rows, wherever it is taken and however small."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.widgets.stage import Stage
from tests.widgets.strips import check
from tokenloop.records import Token
from tokenloop_widgets import (
    ComparisonPanel,
    DrawsPanel,
    RowsPanel,
    SweepPanel,
    ThroughPanel,
    WatchPanel,
)
from tokenloop_widgets.recorded import Laboratory, read_laboratory

LABORATORY = read_laboratory()

SMALLEST = ((20, 5), (2, 1), (1, 1), (90, 24))


def _through(laboratory: Laboratory) -> tuple[RowsPanel, tuple[Token, ...]]:
    panel, choice = ThroughPanel(), laboratory.choices[0]
    panel.show(choice)
    return panel, choice.candidates


def _orders(laboratory: Laboratory) -> tuple[RowsPanel, tuple[Token, ...]]:
    panel, comparison = ComparisonPanel(), laboratory.comparisons[0]
    panel.show(comparison, side=0)
    return panel, comparison.candidates


def _draws(laboratory: Laboratory) -> tuple[RowsPanel, tuple[Token, ...]]:
    panel, draws = DrawsPanel(), laboratory.draws[0]
    panel.show(draws)
    return panel, draws.counts


def _watch(laboratory: Laboratory) -> tuple[RowsPanel, tuple[Token, ...]]:
    panel = WatchPanel()
    panel.show(laboratory.watched, laboratory.position)
    return panel, laboratory.watched


@pytest.mark.parametrize("make", [_through, _orders, _draws, _watch])
async def test_the_cursor_goes_from_end_to_end_and_stays_in_sight(
    make: Callable[[Laboratory], tuple[RowsPanel, tuple[Token, ...]]],
) -> None:
    panel, rows = make(LABORATORY)
    app = Stage(panel)
    async with app.run_test(size=(90, 16)) as pilot:
        assert panel.highlighted is None
        await pilot.press("end")
        assert panel.highlighted == rows[-1]
        for size in SMALLEST:
            await pilot.resize_terminal(*size)
            await pilot.pause()
            check([panel.render_line(y) for y in range(panel.size.height)], *panel.size)
            assert panel.highlighted == rows[-1]
        assert any("▌" in line for line in app.drawn())
        await pilot.press("home", "enter")
        assert panel.highlighted == rows[0]
        assert len(app.said) == 1
        await pilot.press("up", "pageup")
        assert panel.highlighted == rows[0]


async def test_a_sweeps_cursor_walks_the_values_and_enter_wants_one() -> None:
    panel, record = SweepPanel(), LABORATORY.sweeps[0]
    panel.show(record)
    app = Stage(panel)
    async with app.run_test(size=(90, 24)) as pilot:
        assert panel.value == record.current
        await pilot.press("home", "right", "enter")
        assert panel.value == record.points[1].value
        assert [(said.setting, said.value) for said in app.said] == [
            (record.setting, record.points[1].value)
        ]
        await pilot.press("end", "right")
        assert panel.value == record.points[-1].value
        panel.show(LABORATORY.sweeps[1])
        assert panel.value == LABORATORY.sweeps[1].current
