"""A line of names, one of them chosen."""

from __future__ import annotations

from collections.abc import Sequence

from textual.strip import Strip

from tokenloop_widgets.drawing.cells import Line, safe, width_of
from tokenloop_widgets.palette import Palette

GAP = 2


def tabs_strip(names: Sequence[str], chosen: int, width: int, palette: Palette) -> Strip:
    """Draw the names, scrolled so far that the chosen one ``‹in brackets›`` is among them.

    Args:
        names: all of them.
        chosen: index of the chosen one.
        width: in cells.
        palette: the colours.
    """
    soft = palette.on(palette.soft)
    line = Line(width, soft).skip(1)
    shown = [f"‹{safe(n)}›" if index == chosen else safe(n) for index, n in enumerate(names)]
    first = 0
    while first < chosen and _width(shown[first : chosen + 1]) > width - 4:
        first += 1
    if first:
        line.add("… ", soft)
    for index in range(first, len(shown)):
        lit = index == chosen
        more = 2 if index + 1 < len(shown) else 0
        if not lit and line.room < width_of(shown[index]) + more:
            line.add("…", soft)
            break
        ink = palette.on(palette.text, bold=True) if lit else soft
        line.add(shown[index], ink).skip(GAP)
    return line.strip()


def _width(texts: Sequence[str]) -> int:
    return sum(width_of(text) + GAP for text in texts)
