"""The text as tokens: shaded by the probability each had, with the ghost of the next one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.style import Style
from textual.strip import Strip

from tokenloop.records import PrefixToken
from tokenloop_widgets.drawing.cells import Line, chop, fill_height, safe, width_of
from tokenloop_widgets.drawing.text_layout import Run, TextLayout, under
from tokenloop_widgets.palette import Palette

FORCED, BOUND, CARET = "◆", "│", "▏"


@dataclass(frozen=True)
class Marks:
    """What is marked in the text.

    Attributes:
        cursor: position of the token that is looked at, or ``None`` (now).
        landed: tokens from this position on have just landed, or ``None``.
        ghost: label of the token that the draw will choose, or ``None``.
        hint: what makes it fact.
    """

    cursor: int | None = None
    landed: int | None = None
    ghost: str | None = None
    hint: str = ""


def by_person(item: PrefixToken) -> bool:
    """Whether a token was given or forced by the person (the others are the model's)."""
    return item.how in ("given", "forced")


def total_rows(layout: TextLayout, marks: Marks) -> int:
    """Rows of the text with its ghost."""
    rows = len(layout.rows)
    if marks.ghost is not None:
        rows = max(rows, max((row for row, _, _ in ghost_runs(layout, marks.ghost)), default=0) + 1)
    return rows


def ghost_runs(layout: TextLayout, ghost: str) -> list[tuple[int, int, str]]:
    """(row, column, piece) of the ghost token, wrapped as a token would be."""
    row, column = layout.end()
    text, inside = safe(ghost), max(1, layout.width - 2)
    if column and column + 1 + width_of(text) > layout.width - 1:
        row, column = row + 1, 0
    pieces = [text] if width_of(text) <= inside else chop(text, inside)
    start = min(column + 1, max(0, layout.width - 1))
    return [(row + n, start if n == 0 else 1, piece) for n, piece in enumerate(pieces)]


def text_strips(
    layout: TextLayout,
    prefix: Sequence[PrefixToken],
    height: int,
    palette: Palette,
    *,
    top: int = 0,
    marks: Marks = Marks(),
    placeholder: str = "",
) -> list[Strip]:
    """Draw the rows from ``top`` on that ``height`` lines hold.

    Args:
        layout: of ``prefix``, of the width to draw.
        prefix: the tokens.
        height: in lines; with probabilities a row takes two.
        palette: the colours.
        top: the first row.
        marks: what is marked.
        placeholder: said where there is no token.
    """
    soft = palette.on(palette.soft)
    width = layout.width
    if not prefix and marks.ghost is None:
        line = Line(width, soft).skip(1).add(placeholder, soft)
        return fill_height([line.strip()], width, height, soft)
    strips: list[Strip] = []
    rows = total_rows(layout, marks)
    shown = range(top, min(rows, top + max(1, height // (1 + layout.probabilities))))
    ghosts = ghost_runs(layout, marks.ghost) if marks.ghost is not None else []
    for number in shown:
        row = layout.rows[number] if number < len(layout.rows) else []
        line = _row(row, layout, prefix, palette, marks)
        for ghost in ghosts:
            if ghost[0] == number:
                _ghost(line, ghost[1], ghost[2], palette)
                if ghost is ghosts[-1] and marks.hint:
                    line.fits("  " + marks.hint, soft)
        above, below = number == shown[0] > 0, number == shown[-1] < rows - 1
        if above or below:
            line.to(width - 1).add("↕" if above and below else "↑" if above else "↓", soft)
        strips.append(line.strip())
        if layout.probabilities:
            strips.append(_under(row, layout, prefix, palette))
    return fill_height(strips, width, height, soft)


def _row(
    row: list[Run],
    layout: TextLayout,
    prefix: Sequence[PrefixToken],
    palette: Palette,
    marks: Marks,
) -> Line:
    line = Line(layout.width, palette.on(palette.soft))
    for run in row:
        item = prefix[run.position]
        if run.column > line.at:
            line.to(run.column - 1)
            line.add(*_mark_before(run, prefix, palette, marks))
        behind = palette.shade(item.p)
        looked_at = run.position == marks.cursor
        landed = marks.landed is not None and run.position >= marks.landed
        if landed:
            behind = palette.sampler_soft
        style = palette.on(
            palette.text,
            bold=not by_person(item) or looked_at,
            underline=item.token.special or looked_at,
            background=behind,
        )
        line.add(run.text, style)
        if looked_at:
            line.add("]", palette.on(palette.text, bold=True))
        else:
            line.to(run.column + run.width)
    return line


def _mark_before(
    run: Run, prefix: Sequence[PrefixToken], palette: Palette, marks: Marks
) -> tuple[str, Style]:
    """The glyph in the cell before a run: looked at, forced, or where another one's text begins."""
    if not run.first:
        return " ", palette.on(palette.soft)
    if run.position == marks.cursor:
        return "[", palette.on(palette.text, bold=True)
    item = prefix[run.position]
    if item.how == "forced":
        return FORCED, palette.on(palette.sampler)
    if run.position and by_person(prefix[run.position - 1]) != by_person(item):
        return BOUND, palette.on(palette.soft)
    return " ", palette.on(palette.soft)


def _under(
    row: list[Run], layout: TextLayout, prefix: Sequence[PrefixToken], palette: Palette
) -> Strip:
    model = palette.on(palette.model)
    line = Line(layout.width, palette.on(palette.soft))
    for run in row:
        if run.first and run.column >= line.at:
            line.to(run.column).add(under(prefix[run.position], run.width), model)
    return line.strip()


def _ghost(line: Line, column: int, text: str, palette: Palette) -> None:
    if column > line.at:
        line.to(column - 1).add(CARET, palette.on(palette.sampler, bold=True))
    line.add(text, palette.on(palette.sampler, italic=True, background=palette.track))
