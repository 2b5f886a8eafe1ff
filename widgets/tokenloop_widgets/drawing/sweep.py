"""The chain over a range of one setting: final probabilities as lines, and what survives."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tokenloop.records import SweepPoint, SweepRecord
from tokenloop_widgets.drawing.braille import Canvas
from tokenloop_widgets.drawing.cells import (
    Line,
    fill_height,
    first_fitting,
    parts,
    placeholder_strips,
    safe,
)
from tokenloop_widgets.drawing.figures import PERCENT_WIDTH, bits, count, milliseconds, percent
from tokenloop_widgets.drawing.scales import scale_text
from tokenloop_widgets.drawing.sweep_layout import AXIS, Layout, nearest, scale_of, value_text
from tokenloop_widgets.palette import Palette

LETTER_EVERY = 18
"""Cells from one number on a line to the next."""

CURSOR, NOW, HERE = "┊", "▲", "△"


def sweep_strips(
    record: SweepRecord | None,
    width: int,
    height: int,
    palette: Palette,
    *,
    cursor: int | None = None,
    placeholder: str = "",
) -> list[Strip]:
    """Draw the plots.

    Args:
        record: the sweep, or ``None`` for the placeholder.
        width: in cells.
        height: in lines.
        palette: the colours.
        cursor: index of the point whose figures are told; the current value's unless given.
        placeholder: said where there is nothing to draw.
    """
    soft = palette.on(palette.soft)
    if record is None or not record.points:
        return placeholder_strips(placeholder, width, height, soft)
    drawing = _Drawing(record, width, height, palette, cursor)
    return fill_height(drawing.strips(), width, height, soft)


class _Drawing:
    """One drawing of a sweep: what its plots share."""

    def __init__(
        self,
        record: SweepRecord,
        width: int,
        height: int,
        palette: Palette,
        cursor: int | None,
    ) -> None:
        self.record, self.width, self.palette = record, width, palette
        self.layout = Layout.fit(width, height)
        self.soft, self.faint = palette.on(palette.soft), palette.on(palette.faint)
        values = [point.value for point in record.points]
        self.low, self.high = values[0], values[-1]
        here = nearest(record, record.current) if cursor is None else cursor
        self.here = max(0, min(here, len(record.points) - 1))
        shades = (palette.sampler, palette.sampler_soft)
        self.inks = [
            palette.on(shades[index % len(shades)]) for index in range(len(record.candidates))
        ]

    @property
    def point(self) -> SweepPoint:
        return self.record.points[self.here]

    def x(self, value: float) -> float:
        """Where a value lies along the axis, 0 to 1."""
        spread = self.high - self.low
        return min(1.0, max(0.0, (value - self.low) / spread)) if spread > 0 else 0.0

    def strips(self) -> list[Strip]:
        layout = self.layout
        strips = self.head()[: layout.head]
        strips += self.upper()
        if layout.lower:
            strips.append(self.lower_title())
            strips += self.lower()
        return [*strips, *self.foot()[: layout.foot]]

    def head(self) -> list[Strip]:
        record, point = self.record, self.point
        amber, bold = (
            self.palette.on(self.palette.sampler, bold=True),
            self.palette.on(self.palette.text, bold=True),
        )
        at_current = self.here == nearest(record, record.current)
        said = f"{safe(record.label)} {value_text(point.value)}"
        where = "now" if at_current else f"now {value_text(record.current)}"
        told = [
            (said, amber),
            (where, bold if at_current else self.soft),
            (f"{count(point.survivors)} left to draw from", self.soft),
            (bits(point.entropy_bits), self.soft),
            (
                f"{len(record.points)} chains in {milliseconds(record.sweep_ms)}, no pass",
                self.faint,
            ),
        ]
        line = parts(Line(self.width, self.soft), told, gap=3)
        return [line.strip(), Line(self.width, self.soft).strip()]

    def upper(self) -> list[Strip]:
        """The final probability of each candidate over the values."""
        layout, record = self.layout, self.record
        scale = scale_of(record)
        canvas = Canvas(layout.plot, layout.upper, self.soft)
        lines = [
            [(self.x(point.value), point.final_p[index] / scale) for point in record.points]
            for index in range(len(record.candidates))
        ]
        for index in reversed(range(len(lines))):  # the model's best lies on top
            canvas.line(lines[index], self.inks[index])
        for index, points in enumerate(lines):
            self.letters(canvas, points, str(index + 1), self.inks[index], offset=index)
        canvas.column(self.x(self.point.value), CURSOR, self.soft)
        end, middle = scale_text(scale), f"{scale * 50:g}"
        figures = self.figures(
            layout.upper, {0: end, layout.upper // 2: middle, layout.upper - 1: "0"}
        )
        legend = self.legend(layout.upper)
        return [
            self.joined(figures[row], segments, legend[row])
            for row, segments in enumerate(canvas.rows())
        ]

    def letters(
        self,
        canvas: Canvas,
        points: Sequence[tuple[float, float]],
        letter: str,
        ink: Style,
        *,
        offset: int,
    ) -> None:
        """The candidate's number on its line now and then: lines are told apart without colour.

        Where it is cut, its line is the axis, and needs no number.
        """
        if not canvas.width:
            return
        every = LETTER_EVERY / canvas.width
        at = every * (0.3 + 0.13 * offset)
        bold = ink + Style(bold=True)
        while at <= 1.0:
            if (height := _between(points, at)) > 0:
                canvas.letter(at, height, letter, bold)
            at += every

    def figures(self, rows: int, at: dict[int, str]) -> list[tuple[str, str]]:
        """The upright axis: a figure where there is one, and its line."""
        return [(at.get(row, ""), "┤" if row in at else "│") for row in range(rows)]

    def joined(
        self,
        figure: tuple[str, str],
        segments: list[Segment],
        legend: Callable[[Line], None] | None,
    ) -> Strip:
        line = Line(self.width, self.soft)
        if self.layout.axis:
            line.right(figure[0], self.soft, AXIS - 2).skip(1).add(figure[1], self.faint)
        line.extend(segments)
        if legend is not None and self.layout.legend:
            line.skip(2)
            legend(line)
        return line.strip()

    def legend(self, rows: int) -> list[Callable[[Line], None] | None]:
        """Each candidate's number, name and probability at the cursor."""
        made: list[Callable[[Line], None] | None] = []
        for index, candidate in enumerate(self.record.candidates[:rows]):
            p = self.point.final_p[index]

            def entry(
                line: Line, index: int = index, p: float = p, label: str = candidate.label
            ) -> None:
                gone = p <= 0
                ink = self.palette.on(self.palette.faint) if gone else self.inks[index]
                line.add(str(index + 1), ink + Style(bold=True)).skip(1)
                name = self.layout.legend - PERCENT_WIDTH - 3
                line.left(
                    safe(label), self.palette.on(self.palette.text) if not gone else ink, name
                )
                line.skip(1).right("cut" if gone else percent(p), ink, PERCENT_WIDTH)

            made.append(entry)
        return [*made, *[None] * (rows - len(made))]

    def lower_title(self) -> Strip:
        line = Line(self.width, self.soft).skip(self.layout.axis)
        said = ("candidates left to draw from (logarithmic)", "candidates left")
        return line.add(first_fitting(said, line.room), self.soft).strip()

    def lower(self) -> list[Strip]:
        """Survivors over the values, on a logarithmic axis."""
        layout, points = self.layout, self.record.points
        most = max(2, *(point.survivors for point in points)) if points else 2
        canvas = Canvas(layout.plot, layout.lower, self.soft)
        heights = [
            (self.x(point.value), math.log(max(1, point.survivors)) / math.log(most))
            for point in points
        ]
        canvas.line(heights, self.palette.on(self.palette.sampler))
        canvas.column(self.x(self.point.value), CURSOR, self.soft)
        figures = self.figures(layout.lower, {0: count(most), layout.lower - 1: "1"})
        return [
            self.joined(figures[row], segments, None) for row, segments in enumerate(canvas.rows())
        ]

    def foot(self) -> list[Strip]:
        """The values along the axis, and where the current one and the cursor are."""
        return [self.marks(), self.values()]

    def marks(self) -> Strip:
        """``▲ 0.8`` below the current value, ``△`` below the cursor where that is elsewhere."""
        layout, record = self.layout, self.record
        bold = self.palette.on(self.palette.text, bold=True)
        amber = self.palette.on(self.palette.sampler, bold=True)
        placed = {self.column(self.point.value): (HERE, bold)}
        if self.low <= record.current <= self.high:
            text = f"{NOW} {value_text(record.current)}"
            placed[self.column(record.current)] = (text, amber)
        line = Line(self.width, self.soft)
        if not layout.plot:
            return line.strip()
        columns = sorted(placed)
        for column, after in zip(columns, [*columns[1:], self.width], strict=True):
            text, ink = placed[column]
            line.to(column).add(text if len(text) < after - column else text[0], ink)
        return line.strip()

    def values(self) -> Strip:
        """Figures at even distances, as many as there is room for."""
        layout = self.layout
        line = Line(self.width, self.soft)
        ticks = 4 if layout.plot >= 32 else 2
        for tick in range(ticks + 1 if layout.plot else 0):
            value = self.low + (self.high - self.low) * tick / ticks
            text = value_text(value)
            last = layout.axis + layout.plot - len(text)
            start = max(layout.axis, min(self.column(value) - len(text) // 2, last))
            if start >= line.at:
                line.to(start).add(text, self.soft)
        return line.strip()

    def column(self, value: float) -> int:
        """The cell of a line that a value lies in."""
        return self.layout.axis + _cell(self.x(value), self.layout.plot)


def _cell(x: float, width: int) -> int:
    """The cell of the canvas that a place along the axis lies in."""
    return round(x * (width * 2 - 1)) // 2 if width else 0


def _between(points: Sequence[tuple[float, float]], x: float) -> float:
    """The height of a line of points at ``x``."""
    for (x0, y0), (x1, y1) in pairwise(points):
        if x0 <= x <= x1:
            return y0 + (y1 - y0) * (x - x0) / (x1 - x0) if x1 > x0 else y0
    return points[-1][1] if points and x > points[-1][0] else points[0][1] if points else 0.0
