"""The ribbon: the cumulative final distribution from 0 to 1, and where ``u`` falls on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.style import Style

from tokenloop.records import Choice, Interval
from tokenloop_widgets.drawing.bars import inside
from tokenloop_widgets.drawing.cells import Line, safe
from tokenloop_widgets.palette import Palette

Ribbon = Sequence[Interval]

REST = -1
POINTED = {"greedy": "the best", "forced": "taken by you", "drawn": "drawn", "given": "given"}


def pointer(choice: Choice) -> float | None:
    """Where the ribbon is pointed at: ``u``, or the middle of the chosen interval."""
    draw = choice.draw
    if draw.u is not None:
        return draw.u
    if draw.low is None or draw.high is None:
        return None
    return (draw.low + draw.high) / 2


def ribbon_cells(ribbon: Ribbon, width: int) -> list[int]:
    """Which interval each cell belongs to: an index of the ribbon, or ``REST`` beyond its end.

    A cell belongs to the interval that holds its middle.
    """
    cells = []
    index = 0
    for cell in range(width):
        middle = (cell + 0.5) / width
        while index < len(ribbon) and ribbon[index].high <= middle:
            index += 1
        cells.append(index if index < len(ribbon) else REST)
    return cells


def final_cells(choice: Choice, width: int) -> list[int]:
    """The cells of the final ribbon.

    The one under the pointer always belongs to the chosen interval, however narrow that is.
    """
    cells = ribbon_cells(choice.ribbon, width)
    at = pointer_cell(choice, width)
    if at is not None:
        owner = [n for n, part in enumerate(choice.ribbon) if part.id == choice.chosen.id]
        cells[at] = owner[0] if owner else REST
    return cells


def pointer_cell(choice: Choice, width: int) -> int | None:
    """The cell that holds the pointer."""
    at = pointer(choice)
    if at is None or width <= 0:
        return None
    return min(width - 1, int(at * width))


def model_ribbon(choice: Choice) -> tuple[Interval, ...]:
    """The same ribbon of the model's own distribution: the shown candidates from 0 upwards."""
    parts, low = [], 0.0
    for candidate in choice.candidates:
        high = low + candidate.p
        parts.append(Interval(id=candidate.id, label=candidate.label, low=low, high=high))
        low = high
    return tuple(parts)


def ribbon_line(
    line: Line, cells: list[int], ribbon: Ribbon, shades: Shades, *, labels: bool = True
) -> Line:
    """Append a ribbon: the chosen interval bright, its neighbours in turn, labels where they fit.

    Args:
        line: to append to.
        cells: which interval each cell belongs to.
        ribbon: the intervals.
        shades: the colours.
        labels: print the labels inside.
    """
    start = 0
    while start < len(cells):
        index, end = cells[start], start
        while end < len(cells) and cells[end] == index:
            end += 1
        if index == REST:
            line.add("░" * (end - start), shades.rest)
        else:
            part = ribbon[index]
            chosen = part.id == shades.chosen
            shade = shades.bright if chosen else shades.turns[index % 2]
            line.add(inside(safe(part.label) if labels else "", end - start), shade)
        start = end
    return line


@dataclass(frozen=True)
class Shades:
    """Styles of a ribbon: of the chosen id, of the others in turn, of what no interval covers."""

    chosen: int
    bright: Style
    turns: tuple[Style, Style]
    rest: Style

    @classmethod
    def final(cls, choice: Choice, palette: Palette) -> Shades:
        """Amber, for the distribution that is drawn from."""
        amber = (palette.sampler, palette.sampler_soft, palette.sampler_faint)
        return cls._of(choice, palette, *amber)

    @classmethod
    def model(cls, choice: Choice, palette: Palette) -> Shades:
        """Blue, for the model's own."""
        blue = (palette.model, palette.model_soft, palette.model_faint)
        return cls._of(choice, palette, *blue)

    @classmethod
    def _of(cls, choice: Choice, palette: Palette, full: str, soft: str, faint: str) -> Shades:
        return cls(
            chosen=choice.chosen.id,
            bright=palette.on(palette.ground, bold=True, background=full),
            turns=(
                palette.on(palette.text, background=soft),
                palette.on(palette.text, background=faint),
            ),
            rest=palette.on(palette.faint),
        )


def pointer_line(line: Line, choice: Choice, width: int, palette: Palette) -> Line:
    """Append the line under the ribbon: ``▲ u = 0.3117`` at its cell, the word if it fits."""
    at = pointer_cell(choice, width)
    if at is None:
        return line
    draw = choice.draw
    word = f"u = {draw.u:.4f}" if draw.u is not None else POINTED[draw.how]
    amber = palette.on(palette.sampler, bold=True)
    start = line.at
    if at + 2 + len(word) <= width:
        return line.to(start + at).add(f"▲ {word}", amber)
    if at >= len(word) + 1:
        return line.to(start + at - len(word) - 1).add(f"{word} ▲", amber)
    return line.to(start + at).add("▲", amber)
