"""The gallery's pages of the laboratory: the views' widgets on answers of the real model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from textual.app import App

from tokenloop.records import StageRecord
from tokenloop_widgets.comparison_panel import ComparisonPanel
from tokenloop_widgets.drawing.figures import setting, stage_name
from tokenloop_widgets.drawing.stage_list import Cell, Cursor, StageRow, State
from tokenloop_widgets.draws_panel import DrawsPanel
from tokenloop_widgets.panel import Panel
from tokenloop_widgets.recorded import Laboratory
from tokenloop_widgets.stage_list import StageList
from tokenloop_widgets.sweep_panel import SweepPanel
from tokenloop_widgets.tabs_line import TabsLine
from tokenloop_widgets.through_panel import ThroughPanel
from tokenloop_widgets.watch_panel import WatchPanel

Item = TypeVar("Item")

MAKERS: dict[str, Callable[[str], Panel]] = {
    "through": lambda name: ThroughPanel(id=name),
    "search": lambda name: ThroughPanel(id=name),
    "orders": lambda name: ComparisonPanel(id=name),
    "draws": lambda name: DrawsPanel(id=name),
    "sweep": lambda name: SweepPanel(id=name),
    "watch": lambda name: WatchPanel(id=name),
    "tabs": lambda name: TabsLine(id=name),
    "stages": lambda name: StageList(id=name),
}
"""What makes each page's widget, by the page's name."""


def fill(app: App[None], laboratory: Laboratory, moment: int) -> dict[str, str]:
    """Give every widget its answer, the next one at each moment.

    Args:
        app: whose widgets they are.
        laboratory: the answers.
        moment: which of them; after the last comes the first.

    Returns:
        What each page shows, in words.
    """

    def at(items: tuple[Item, ...]) -> Item:
        return items[moment % len(items)]

    choice, found, draws = at(laboratory.choices), at(laboratory.found), at(laboratory.draws)
    sweep, comparison = at(laboratory.sweeps), at(laboratory.comparisons)
    app.query_one("#through", ThroughPanel).show(choice)
    name = f"{found.total:,} found by {found.kind}"
    app.query_one("#search", ThroughPanel).show(
        laboratory.choices[0], found=found.candidates, name=name
    )
    app.query_one("#orders", ComparisonPanel).show(comparison, side=moment % 2)
    app.query_one("#draws", DrawsPanel).show(draws)
    app.query_one("#sweep", SweepPanel).show(sweep)
    app.query_one("#watch", WatchPanel).show(laboratory.watched, laboratory.position)
    labels = [one.label for one in laboratory.sweeps]
    app.query_one("#tabs", TabsLine).show(labels, moment % len(labels))
    rows = tuple(map(_row, choice.stages))
    app.query_one("#stages", StageList).show(rows, Cursor(row=moment % len(rows)), choice)
    acted = sum(stage.skipped is None for stage in choice.stages)
    return {
        "through": f"{acted} stages act",
        "search": f"the vocabulary searched for {found.query}",
        "orders": f"{comparison.left.name} beside {comparison.right.name}",
        "draws": f"{draws.draws:,} draws",
        "sweep": f"over {sweep.label}",
        "watch": "three tokens over the steps",
        "tabs": labels[moment % len(labels)],
        "stages": "the stages as a list to edit",
    }


def _row(stage: StageRecord) -> StageRow:
    """A stage's row with its settings as the record has them."""
    state: State = "acts" if stage.skipped is None else "off" if stage.off else "idle"
    cells = tuple(Cell(name, setting(value)) for name, value in stage.settings.items())
    return StageRow(stage_name(stage.name), state, cells, stage)
