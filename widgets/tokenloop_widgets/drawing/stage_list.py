"""The sampler's stages as a list to edit: a row each, with its settings and what it does now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from rich.style import Style
from textual.strip import Strip

from tokenloop.records import Choice, StageRecord
from tokenloop_widgets.drawing.cells import (
    Line,
    clip,
    fill_height,
    first_fitting,
    safe,
    width_of,
)
from tokenloop_widgets.drawing.draw import draw_strips
from tokenloop_widgets.drawing.figures import count
from tokenloop_widgets.drawing.stage_words import (
    cut_figure,
    entropy_change,
    reason,
    stage_flow,
)
from tokenloop_widgets.palette import Palette

State = Literal["acts", "idle", "off", "switched off", "absent", "none"]

MARKS: dict[State, str] = {
    "acts": "●",
    "idle": "◌",
    "off": "○",
    "switched off": "✕",
    "absent": "–",
    "none": " ",
}
"""What a row begins with: told apart without colour."""

NAME_WIDTH = 11
EFFECT_MOST, EFFECT_LEAST = 25, 14
CELLS_LEAST = 12
DRAW_LINES = 3
GAP = 2
BOLD = Style(bold=True)


@dataclass(frozen=True)
class Cell:
    """One setting in a row.

    Attributes:
        label: before the value; nothing where the row's name says it.
        value: as text.
        plain: whether it is the default: less bright.
    """

    label: str
    value: str
    plain: bool = False


@dataclass(frozen=True)
class StageRow:
    """One row.

    Attributes:
        name: as people write it.
        state: what the stage does now; ``none`` where the row is no stage.
        cells: its settings.
        record: what it did to the held distribution, if it ran.
    """

    name: str
    state: State
    cells: tuple[Cell, ...] = ()
    record: StageRecord | None = None


@dataclass(frozen=True)
class Cursor:
    """Where the person is: a row, and a cell of it."""

    row: int = 0
    cell: int = 0
    wrong: bool = field(default=False)


def first_row(rows: int, cursor: int, height: int) -> int:
    """The first row shown, so that the cursor stands in the middle wherever the ends allow it."""
    return max(0, min(cursor - height // 2, rows - height))


def stage_list_strips(
    rows: Sequence[StageRow],
    cursor: Cursor,
    width: int,
    height: int,
    palette: Palette,
    *,
    choice: Choice | None = None,
) -> list[Strip]:
    """Draw the rows around the cursor, and below them, where there is room, the draw.

    Args:
        rows: all of them.
        cursor: the row and the cell that keys act on.
        width: in cells.
        height: in lines.
        palette: the colours.
        choice: what is held now.
    """
    spare = height - len(rows)
    if choice is not None and choice.ribbon and spare >= DRAW_LINES:
        list_height = height - DRAW_LINES
        strips = stage_list_strips(rows, cursor, width, list_height, palette)
        draw = draw_strips(choice, width - 2, palette, both=False)
        return [*strips, *(_indented(strip, width, palette) for strip in draw)]
    top = first_row(len(rows), cursor.row, height)
    shown = range(top, min(len(rows), top + height))
    strips = []
    for index in shown:
        here = cursor if index == cursor.row else None
        line = _row(rows[index], here, width, palette)
        above, below = index == top > 0, index == shown[-1] < len(rows) - 1
        if above or below:
            line.to(width - 1).add("↑" if above else "↓", palette.on(palette.soft))
        strips.append(line.strip())
    return fill_height(strips, width, height, palette.on(palette.soft))


def _indented(strip: Strip, width: int, palette: Palette) -> Strip:
    line = Line(width, palette.on(palette.soft)).skip(1)
    for segment in strip:
        line.add(segment.text, segment.style or line.fill)
    return line.strip()


def _row(row: StageRow, cursor: Cursor | None, width: int, palette: Palette) -> Line:
    behind = palette.cursor if cursor else palette.ground
    runs = row.state in ("acts", "idle", "none")
    ink = palette.text if runs or cursor else palette.faint

    def on(colour: str, *, bold: bool = False) -> Style:
        return palette.on(colour, bold=bold, background=behind)

    line = Line(width - 1, on(palette.soft))
    line.add("▌" if cursor else " ", on(palette.text))
    acts = palette.sampler if row.state == "acts" else ink
    line.add(MARKS[row.state], on(acts)).skip(1)
    line.left(safe(row.name), on(ink, bold=cursor is not None), NAME_WIDTH).skip(1)
    effect = _effect_width(line.room)
    start, room = line.at, line.room - (effect + GAP if effect else 0)
    if runs or cursor:
        ink = palette.sampler if row.state == "acts" else palette.soft
        _cells(line, row.cells, cursor, start + room, palette, on(ink))
    line.to(start + room)
    if effect:
        text, colour = _effect(row, effect, palette)
        line.skip(GAP).right(text, on(colour), effect)
    line.to(width - 1)
    whole = Line(width, palette.on(palette.soft))
    for segment in line.strip():
        whole.add(segment.text, segment.style or whole.fill)
    return whole


def _effect_width(room: int) -> int:
    spare = room - CELLS_LEAST - GAP
    return min(EFFECT_MOST, spare) if spare >= EFFECT_LEAST else 0


def _cells(
    line: Line,
    cells: Sequence[Cell],
    cursor: Cursor | None,
    end: int,
    palette: Palette,
    ink: Style,
) -> None:
    """As many settings as fit, the selected one among them."""
    soft = palette.on(palette.soft, background=palette.cursor if cursor else None)
    selected = cursor.cell if cursor else -1
    texts = [f"{cell.label} {cell.value or '—'}".strip() for cell in cells]
    first = _first_cell([width_of(safe(text)) for text in texts], selected, end - line.at)
    if first:
        line.add("‹ ", soft)
    for index in range(first, len(cells)):
        cell = cells[index]
        gap = GAP if index > first else 0
        room = end - line.at - gap
        if room < width_of(safe(texts[index])) and index not in (first, selected):
            line.add(clip("…", max(0, end - line.at)), soft)
            return
        line.skip(gap)
        if cell.label:
            label = clip(safe(cell.label), end - line.at)
            line.add(label, soft)
            line.skip(min(1, max(0, end - line.at)))
        style = ink if cell.plain else ink + BOLD
        if index == selected and cursor:
            ground = palette.error if cursor.wrong else palette.sampler
            style = palette.on(palette.ground, bold=True, background=ground)
        line.add(clip(safe(cell.value or "—"), max(0, end - line.at)), style)


def _first_cell(widths: Sequence[int], selected: int, room: int) -> int:
    """The first cell to show so that the selected one fits."""
    first = 0
    while first < selected:
        needs = sum(widths[first : selected + 1]) + GAP * (selected - first) + (2 if first else 0)
        if needs <= room:
            break
        first += 1
    return first


def _effect(row: StageRow, room: int, palette: Palette) -> tuple[str, str]:
    """What the stage does to the held distribution, and its colour."""
    record = row.record
    if row.state == "absent":
        return first_fitting(("not in the chain", "absent"), room), palette.faint
    if row.state == "switched off":
        return first_fitting(("switched off", "off"), room), palette.soft
    if record is None or row.state == "none":
        return "", palette.soft
    if row.state == "off":
        return "off", palette.faint
    if record.skipped is not None:
        return reason(record, room), palette.faint
    flow, cut = stage_flow(record), cut_figure(record)
    ways = (f"{flow}  {cut:>7}", flow) if cut else (entropy_change(record), flow)
    return first_fitting((*ways, f"→ {count(record.survivors)}"), room), palette.text
