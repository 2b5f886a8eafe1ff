"""Many draws against the distribution that they were drawn from."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rich.segment import Segment
from textual.strip import Strip

from tokenloop.records import Choice, DrawCount, DrawsRecord
from tokenloop_widgets.drawing.bars import half_cells
from tokenloop_widgets.drawing.cells import (
    Line,
    fill_height,
    first_fitting,
    parts,
    placeholder_strips,
)
from tokenloop_widgets.drawing.figures import (
    PERCENT_WIDTH,
    count,
    milliseconds,
    percent,
    stage_name,
)
from tokenloop_widgets.drawing.scales import scale_for, scale_text
from tokenloop_widgets.palette import Palette, style

MARKS = 2
GAP = 2
LABEL_LEAST, LABEL_MOST = 8, 20
BAR_LEAST = 8
TICK = "│"
UNLIKELY, NEVER = 0.05, 0.001
"""p-values below which the draws are called unusual, and at odds with the display."""


def verdict(record: DrawsRecord) -> str:
    """What the χ² test says, for people."""
    p = record.p_value
    if p is None:
        why = "one token has all the probability" if record.certain else "too few for these odds"
        return f"{why}: there is nothing to test"
    if p >= UNLIKELY:
        return "the draws agree with the display"
    if p >= NEVER:
        return f"unusual: chance alone does worse once in {1 / p:.0f} times"
    return "the draws do not agree with the display"


def statistic(record: DrawsRecord) -> tuple[str, ...]:
    """``p = 0.52, χ² = 3.21, 4 degrees of freedom``, then shorter; nothing of no test."""
    if record.chi_square is None or record.p_value is None:
        return ()
    p = f"p = {record.p_value:.2f}" if record.p_value >= 0.01 else f"p = {record.p_value:.1g}"
    chi = f"{p}, χ² = {record.chi_square:.2f}"
    freedom = f"{record.degrees} {'degree' if record.degrees == 1 else 'degrees'} of freedom"
    return (f"{chi}, {freedom}", chi, p)


def told(drawn: DrawCount, draws: int) -> tuple[str, ...]:
    """How often one token came, the fullest way to say it first.

    The spread is one standard deviation of the share of so many draws, √(p·(1 − p)/n).
    """
    share, spread = drawn.count / draws, math.sqrt(drawn.final_p * (1 - drawn.final_p) / draws)
    said = f"in {percent(share)} of {count(draws)} draws"
    expected = f"expected {percent(drawn.final_p)}"
    return (f"{said}; {expected} ± {spread * 100:.1f} %", f"{said}; {expected}", said)


def held_chance(choice: Choice | None) -> tuple[str, ...]:
    """That all draws share the chance of a stage, the fullest way to say it first."""
    stages = choice.stages if choice else ()
    stage = next((stage for stage in stages if stage.by_chance), None)
    if stage is None:
        return ()
    chance = f"{stage_name(stage.name)}'s chance stays {stage.figures['chance']:.2f} in all of them"
    return (f"{chance}: it acts in {'each' if stage.skipped is None else 'none'}", chance)


def scale_of(record: DrawsRecord) -> float:
    """The smallest of the fixed scales that no bar exceeds."""
    parts = [record.rest_p, record.rest_count / record.draws]
    for drawn in record.counts:
        parts += [drawn.final_p, drawn.count / record.draws]
    return scale_for(parts)


@dataclass(frozen=True)
class Columns:
    """Widths in cells; 0 is left out."""

    label: int
    counted: int
    share: int
    expected: int
    bar: int

    @classmethod
    def fit(cls, width: int, draws: int) -> Columns:
        """The columns that fit, the most telling ones first."""
        room = width - MARKS
        label = max(0, min(LABEL_MOST, max(LABEL_LEAST, width // 5), room))
        room -= label
        counted = share = expected = bar = 0
        need = max(len(count(draws)), len("drawn"))
        if room >= GAP + need:
            counted = need
            room -= GAP + need
        if room >= GAP + PERCENT_WIDTH:
            share = PERCENT_WIDTH
            room -= GAP + share
        if room >= GAP + len("expected"):
            expected = len("expected")
            room -= GAP + expected
        if room >= GAP + BAR_LEAST:
            bar = room - GAP
        return cls(label, counted, share, expected, bar)


def head_height(height: int) -> int:
    """Lines above the rows: what was drawn, the verdict, the token, a held chance, the header."""
    if height >= 12:
        return 5
    return 3 if height >= 8 else 1 if height >= 3 else 0


def body_height(height: int) -> int:
    """Lines left for tokens; the last line is for all the others."""
    return max(0, height - head_height(height) - (height >= 4))


def draws_strips(
    record: DrawsRecord | None,
    width: int,
    height: int,
    palette: Palette,
    *,
    top: int = 0,
    highlighted: int | None = None,
    choice: Choice | None = None,
    placeholder: str = "",
) -> list[Strip]:
    """Draw the histogram: what came, and a tick where it was expected.

    Args:
        record: the draws, or ``None`` for the placeholder.
        width: in cells.
        height: in lines.
        palette: the colours.
        top: index of the first token in the window.
        highlighted: index of the token under the cursor.
        choice: what was drawn from.
        placeholder: said where there is no record.
    """
    soft = palette.on(palette.soft)
    if record is None:
        return placeholder_strips(placeholder, width, height, soft)
    columns, scale = Columns.fit(width, record.draws), scale_of(record)
    head = _head(record, columns, scale, highlighted, choice, width, palette)
    strips = {5: head, 3: head[1:3] + head[4:], 1: head[4:], 0: []}[head_height(height)]
    for index in range(top, min(len(record.counts), top + body_height(height))):
        strips.append(_row(record, index, columns, scale, highlighted, width, palette))
    if height >= 4:
        strips.append(_rest(record, columns, scale, width, palette))
    return fill_height(strips, width, height, soft)


def _head(
    record: DrawsRecord,
    columns: Columns,
    scale: float,
    highlighted: int | None,
    choice: Choice | None,
    width: int,
    palette: Palette,
) -> list[Strip]:
    soft, bold = palette.on(palette.soft), palette.on(palette.text, bold=True)
    start = min(MARKS, width)
    head = Line(width, soft).skip(start)
    head.add(f"{count(record.draws)} draws", palette.on(palette.sampler, bold=True))
    made = [
        (f"attempts 0 to {count(record.draws - 1)} of seed {record.seed}", soft),
        (f"{milliseconds(record.draw_ms)}, no pass", soft),
    ]
    agreed = Line(width, soft).skip(start).add(verdict(record), bold).skip(2)
    agreed.add(first_fitting(statistic(record), agreed.room), soft)
    drawn = Line(width, soft).skip(start)
    if record.counts:
        one = record.counts[highlighted or 0]
        drawn.add(one.label, bold).skip(2)
        drawn.add(first_fitting(told(one, record.draws), drawn.room), palette.on(palette.text))
    held = Line(width, soft)
    if said := first_fitting(held_chance(choice), width - start):
        held.skip(start).add(said, soft)
    return [
        parts(head, made, gap=2).strip(),
        agreed.strip(),
        drawn.strip(),
        held.strip(),
        _header(columns, scale, width, palette),
    ]


def _header(columns: Columns, scale: float, width: int, palette: Palette) -> Strip:
    faint = palette.on(palette.faint)
    line = Line(width, faint).skip(MARKS).left("token", faint, columns.label)
    if columns.counted:
        line.skip(GAP).right("drawn", faint, columns.counted)
    if columns.share:
        line.skip(GAP).right("share", faint, columns.share)
    if columns.expected:
        line.skip(GAP).right("expected", faint, columns.expected)
    if columns.bar:
        end = scale_text(scale)
        legend = first_fitting((f"█ drawn   {TICK} expected", ""), columns.bar - len(end) - 4)
        line.skip(GAP).add("0", faint).skip(2).add(legend, palette.on(palette.sampler))
        line.to(width - len(end)).add(end, faint)
    return line.strip()


def _row(
    record: DrawsRecord,
    index: int,
    columns: Columns,
    scale: float,
    highlighted: int | None,
    width: int,
    palette: Palette,
) -> Strip:
    drawn = record.counts[index]
    lit = index == highlighted
    behind = palette.cursor if lit else palette.ground
    plain = palette.on(palette.soft, background=behind)
    line = Line(width, plain).add("▌" if lit else " ", palette.on(palette.text, background=behind))
    line.skip(MARKS - 1)
    ink = palette.on(palette.text, underline=drawn.special, background=behind)
    line.left(drawn.label, ink, columns.label)
    _figures(line, record, drawn.count, drawn.final_p, columns, scale, palette, behind)
    return line.strip()


def _rest(
    record: DrawsRecord, columns: Columns, scale: float, width: int, palette: Palette
) -> Strip:
    soft = palette.on(palette.soft)
    line = Line(width, soft).skip(MARKS)
    line.left(first_fitting(("all the others", "others"), columns.label), soft, columns.label)
    _figures(
        line, record, record.rest_count, record.rest_p, columns, scale, palette, palette.ground
    )
    return line.strip()


def _figures(
    line: Line,
    record: DrawsRecord,
    number: int,
    final_p: float,
    columns: Columns,
    scale: float,
    palette: Palette,
    behind: str,
) -> None:
    amber = palette.on(palette.sampler, background=behind)
    plain = palette.on(palette.soft, background=behind)
    share = number / record.draws
    if columns.counted:
        line.skip(GAP).right(count(number), amber, columns.counted)
    if columns.share:
        line.skip(GAP).right(percent(share), amber, columns.share)
    if columns.expected:
        line.skip(GAP).right(percent(final_p), plain, columns.expected)
    if columns.bar:
        track = palette.track if behind == palette.ground else behind
        line.skip(GAP)
        line.extend(_bar(share / scale, final_p / scale, columns.bar, palette, track))


def _bar(part: float, expected: float, width: int, palette: Palette, track: str) -> list[Segment]:
    """A bar of half cells with a tick in the cell where the expected end lies."""
    cells = half_cells(part, width)
    at = min(width - 1, int(min(1.0, expected) * width))
    amber = style(palette.sampler, track)
    before, after = "".join(cells[:at]), "".join(cells[at + 1 :])
    segments = [Segment(before, amber)] if before else []
    if expected > 0:
        under = palette.sampler if cells[at] == "█" else track
        segments.append(
            Segment(
                TICK, style(palette.text if under == track else palette.ground, under, bold=True)
            )
        )
    else:
        segments.append(Segment(cells[at], amber))
    return [*segments, Segment(after, amber)] if after else segments
