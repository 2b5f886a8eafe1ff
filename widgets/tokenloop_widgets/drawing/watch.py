"""The watch list: each pinned token's rank and probabilities, position by position."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from rich.style import Style
from textual.strip import Strip

from tokenloop.records import Watched, WatchPoint
from tokenloop_widgets.drawing.bars import LEVELS
from tokenloop_widgets.drawing.cells import (
    Line,
    fill_height,
    first_fitting,
    parts,
    placeholder_strips,
    safe,
)
from tokenloop_widgets.drawing.figures import count, percent
from tokenloop_widgets.drawing.scales import scale_for, scale_text
from tokenloop_widgets.palette import Palette

MARKS, GAP = 2, 2
PLOT_LEAST = 8
ROWS_MOST = 10
WIDEST_POSITION = 3
TAKEN, NOT_HELD = "▲", "·"


@dataclass(frozen=True)
class Layout:
    """What fits.

    Attributes:
        plots: how many of the three plots stand side by side.
        plot: the width of each.
        rows: the height of each.
        each: lines a token takes: its figures, the plots, the positions below, a blank.
    """

    plots: int
    plot: int
    rows: int
    each: int

    @classmethod
    def fit(cls, width: int, height: int, tokens: int) -> Layout:
        """Every token at once where possible; of the plots, final, then raw, then rank."""
        plots = next((n for n in (3, 2, 1) if (width - MARKS) // n >= PLOT_LEAST + GAP), 0)
        plot = (width - MARKS) // plots - GAP if plots else 0
        share = height // max(1, tokens)
        rows = max(0, min(ROWS_MOST, share - 3)) if plots else 0
        if plots and not rows and height >= 3:
            rows = 1
        each = 1 if not rows else rows + (3 if share >= rows + 3 else 2 if share >= 3 else 1)
        return cls(plots, plot, rows, each)


@dataclass(frozen=True)
class Scales:
    """What the plots' height stands for, the same for every token.

    Attributes:
        rank: the worst rank on them; their top is rank 1.
        p: the probability at their top.
    """

    rank: int
    p: float

    @classmethod
    def of(cls, watched: Sequence[Watched]) -> Scales:
        """The smallest scales that hold every point."""
        points = [point for one in watched for point in one.points]
        return cls(
            rank=max([2, *(point.rank for point in points)]),
            p=scale_for(p for point in points for p in (point.p, point.final_p or 0.0)),
        )


def header_height(height: int) -> int:
    """One line that names the plots, where there is room."""
    return int(height >= 6)


def tokens_in_sight(width: int, height: int, tokens: int) -> int:
    """How many tokens the height shows."""
    room = height - header_height(height)
    return max(1, room // Layout.fit(width, room, tokens).each)


def watch_strips(
    watched: Sequence[Watched],
    now: int,
    width: int,
    height: int,
    palette: Palette,
    *,
    top: int = 0,
    highlighted: int | None = None,
    placeholder: str = "",
) -> list[Strip]:
    """Draw the watch list.

    Args:
        watched: the pinned tokens.
        now: the position that the next token takes: the last column of the plots.
        width: in cells.
        height: in lines.
        palette: the colours.
        top: index of the first token in the window.
        highlighted: index of the token under the cursor.
        placeholder: said where nothing is pinned.
    """
    soft = palette.on(palette.soft)
    if not watched:
        return placeholder_strips(placeholder, width, height, soft)
    layout = Layout.fit(width, height - header_height(height), len(watched))
    scales = Scales.of(watched)
    strips = [_header(layout, scales, width, palette)][: header_height(height)]
    for index in range(top, len(watched)):
        if len(strips) + min(layout.each, layout.rows + 1) > height:
            break
        strips += _token(watched[index], now, scales, layout, width, palette, index == highlighted)
    return fill_height(strips, width, height, soft)


def _token(
    one: Watched, now: int, scales: Scales, layout: Layout, width: int, palette: Palette, lit: bool
) -> list[Strip]:
    soft = palette.on(palette.soft)
    strips = [_figures(one, now, width, palette, lit)]
    columns = Columns.of(one, now, layout.plot)
    strips += _plots(columns, scales, layout, width, palette)
    if layout.each >= layout.rows + 2:
        strips.append(_taken(columns, layout, width, palette))
    if layout.each >= layout.rows + 3:
        strips.append(Line(width, soft).strip())
    return strips[: layout.each]


def _figures(one: Watched, now: int, width: int, palette: Palette, lit: bool) -> Strip:
    """The token as it stands now."""
    behind = palette.cursor if lit else palette.ground
    soft = palette.on(palette.soft, background=behind)
    line = Line(width, soft).add("▌" if lit else " ", palette.on(palette.text, background=behind))
    line.skip(MARKS - 1)
    items = [(safe(one.label), palette.on(palette.text, bold=True, background=behind))]
    last = one.points[-1] if one.points and one.points[-1].position == now else None
    if last is None:
        items.append(("not known now", soft))
    else:
        items.append((f"rank {count(last.rank)}", soft))
        items.append((f"model {percent(last.p)}", palette.on(palette.model, background=behind)))
        final = f"final {percent(last.final_p)}" if last.final_p else "cut"
        ink = palette.on(palette.sampler if last.final_p else palette.faint, background=behind)
        items.append((final if last.final_p is not None else "", ink))
    taken = sum(point.taken for point in one.points)
    times = "once" if taken == 1 else f"{count(taken)} times"
    items.append((f"{TAKEN} taken {times}" if taken else "", soft))
    items.append((f"id {one.id}", soft))
    return parts(line, items, gap=GAP).strip()


@dataclass(frozen=True)
class Columns:
    """The last positions up to now.

    Attributes:
        points: one a position; ``None`` where nothing is known.
        cells: how wide each is drawn, so that short texts fill the plot.
    """

    points: tuple[WatchPoint | None, ...]
    cells: int

    @classmethod
    def of(cls, one: Watched, now: int, width: int) -> Columns:
        """As many positions as a plot of that width holds."""
        if not width:
            return cls((), 1)
        by_position = {point.position: point for point in one.points}
        cells = max(1, min(WIDEST_POSITION, width // (now + 1)))
        first = max(0, now + 1 - width // cells)
        return cls(tuple(by_position.get(position) for position in range(first, now + 1)), cells)


def _plots(
    columns: Columns,
    scales: Scales,
    layout: Layout,
    width: int,
    palette: Palette,
) -> list[Strip]:
    """Rank (the better, the higher), raw and final probability, side by side."""
    rank = [
        None if point is None else _height_of(point.rank, scales.rank) for point in columns.points
    ]
    raw = [None if point is None else point.p / scales.p for point in columns.points]
    final = [
        None if point is None or point.final_p is None else point.final_p / scales.p
        for point in columns.points
    ]
    soft = palette.on(palette.soft, background=palette.track)
    blue = palette.on(palette.model, background=palette.track)
    amber = palette.on(palette.sampler, background=palette.track)
    plots = [(rank, soft), (raw, blue), (final, amber)][3 - layout.plots :]
    made = [(_cells(values, layout.rows, columns.cells), ink) for values, ink in plots]
    strips = []
    for row in range(layout.rows):
        line = Line(width, palette.on(palette.soft)).skip(MARKS)
        for cells, ink in made:
            line.add(cells[row].ljust(layout.plot), ink).skip(GAP)
        strips.append(line.strip())
    return strips


def _height_of(rank: int, worst: int) -> float:
    """A rank on a logarithmic scale: 1 for the best, 0 for the worst that any watched one had."""
    return 1.0 - math.log(max(1, rank)) / math.log(max(2, worst))


def _cells(values: Sequence[float | None], rows: int, cells: int) -> list[str]:
    """``cells`` columns a value, eight levels a row, the upper first; a dot where none is known."""
    lines = []
    for row in reversed(range(rows)):
        text = ""
        for value in values:
            if value is None:
                text += (NOT_HELD if row == 0 else " ").ljust(cells)
                continue
            level = max(1, round(min(1.0, value) * 8 * rows)) if value > 0 else 0
            cell = min(8, max(0, level - 8 * row))
            text += (LEVELS[cell - 1] if cell else " ") * cells
        lines.append(text)
    return lines


def _taken(columns: Columns, layout: Layout, width: int, palette: Palette) -> Strip:
    """``▲`` below the positions at which the token became fact."""
    line = Line(width, palette.on(palette.soft)).skip(MARKS)
    marks = "".join(
        (TAKEN if point is not None and point.taken else " ").ljust(columns.cells)
        for point in columns.points
    )
    for _ in range(layout.plots):
        line.left(marks, palette.on(palette.soft), layout.plot).skip(GAP)
    return line.strip()


def _header(layout: Layout, scales: Scales, width: int, palette: Palette) -> Strip:
    """What each plot shows, and its scale."""
    line = Line(width, palette.on(palette.soft)).skip(MARKS)
    top = f"0 to {scale_text(scales.p)}"
    names: tuple[tuple[tuple[str, ...], Style], ...] = (
        ((f"rank: 1 on top, {count(scales.rank)} below", "rank: 1 on top", "rank"), line.fill),
        ((f"model, {top}", "model"), palette.on(palette.model)),
        ((f"final, {top}", "final"), palette.on(palette.sampler)),
    )
    for ways, ink in names[len(names) - layout.plots :]:
        line.left(first_fitting(ways, layout.plot), ink, layout.plot).skip(GAP)
    return line.strip()
