"""The ribbon: the cumulative final distribution from 0 to 1, and where ``u`` falls on it."""

from __future__ import annotations

from textual.strip import Strip

from tokenloop.records import Choice
from tokenloop_widgets.drawing.cells import Line, clip, safe, width_of
from tokenloop_widgets.palette import Palette

REST = -1


def pointer(choice: Choice) -> float | None:
    """Where the ribbon is pointed at: ``u``, or the middle of the chosen interval."""
    draw = choice.draw
    if draw.u is not None:
        return draw.u
    if draw.low is None or draw.high is None:
        return None
    return (draw.low + draw.high) / 2


def ribbon_cells(choice: Choice, width: int) -> list[int]:
    """Which interval each cell belongs to: an index of ``choice.ribbon``, or ``REST``.

    A cell belongs to the interval that holds its middle. The cell under the pointer always belongs
    to the chosen interval, however narrow that is.
    """
    cells = []
    index = 0
    for cell in range(width):
        middle = (cell + 0.5) / width
        while index < len(choice.ribbon) and choice.ribbon[index].high <= middle:
            index += 1
        cells.append(index if index < len(choice.ribbon) else REST)
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


def ribbon_strip(choice: Choice, width: int, palette: Palette) -> Strip:
    """One line: the chosen interval bright, its neighbours in turn, labels where they fit."""
    line = Line(width, palette.on(palette.soft))
    cells = ribbon_cells(choice, width)
    start = 0
    while start < width:
        index = cells[start]
        end = start
        while end < width and cells[end] == index:
            end += 1
        if index == REST:
            line.add("░" * (end - start), palette.on(palette.faint))
        else:
            part = choice.ribbon[index]
            chosen = part.id == choice.chosen.id
            behind = (palette.sampler_soft, palette.sampler_faint)[index % 2]
            behind = palette.sampler if chosen else behind
            ink = palette.ground if chosen else palette.text
            line.add(
                _inside(part.label, end - start),
                palette.on(ink, bold=chosen, background=behind),
            )
        start = end
    return line.strip()


def _inside(label: str, width: int) -> str:
    """A label centred in its interval with the bound drawn at its left, or what fits of that."""
    bound = "▏" if width > 1 else " "
    text = safe(label)
    if width_of(text) > width - 2:
        text = clip(text, width - 2) if width >= 6 else ""
    left = max(1, (width - width_of(text)) // 2)
    before = bound + " " * (left - 1)
    return before + text + " " * (width - left - width_of(text))


def pointer_strip(choice: Choice, width: int, palette: Palette) -> Strip:
    """The line under the ribbon: ``▲ u = 0.3117`` at its cell, on the side where there is room."""
    line = Line(width, palette.on(palette.soft))
    at = pointer_cell(choice, width)
    if at is None:
        return line.strip()
    draw = choice.draw
    word = f"u = {draw.u:.4f}" if draw.u is not None else draw.how
    amber = palette.on(palette.sampler, bold=True)
    if at + 2 + len(word) <= width or at < len(word) + 1:
        return line.to(at).add("▲ " + word if at + 2 + len(word) <= width else "▲", amber).strip()
    return line.to(at - len(word) - 1).add(word + " ▲", amber).strip()
