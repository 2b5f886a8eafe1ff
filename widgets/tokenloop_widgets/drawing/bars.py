"""Bars out of block characters; a bar of length zero is drawn as nothing."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment

from tokenloop_widgets.palette import Palette, style

EIGHTHS = " ▏▎▍▌▋▊▉"
LEVELS = "▁▂▃▄▅▆▇█"
BOTH, UPPER, LOWER = "▀", "▀", "▄"


def bar(part: float, width: int, colour: str, track: str) -> list[Segment]:
    """A bar of ``part`` (0 to 1) of ``width`` cells, to an eighth of a cell."""
    if width <= 0:
        return []
    eighths = round(min(1.0, max(0.0, part)) * width * 8)
    full, rest = divmod(eighths, 8)
    return _runs(
        [("█" * full, colour, track), (EIGHTHS[rest] if rest else "", colour, track)],
        blank=width - full - (rest > 0),
        track=track,
    )


def line_bar(part: float, width: int, colour: str, track: str, ground: str) -> list[Segment]:
    """A thin bar ``━━━╸──`` to half a cell, for tables; its track is a line too."""
    if width <= 0:
        return []
    halves = round(min(1.0, max(0.0, part)) * width * 2)
    full, half = divmod(halves, 2)
    cells = [("━" * full, colour, ground), ("╸" if half else "", colour, ground)]
    cells.append(("─" * (width - full - half), track, ground))
    return _runs(cells, blank=0, track=ground)


def double_bar(
    upper: float, lower: float, width: int, palette: Palette, *, faint: bool = False
) -> list[Segment]:
    """Two bars in one row by half blocks: the model's above, the final one below.

    A cell has two colours only, so where a bar ends in the middle of a cell that the other one
    also uses, its end is rounded to the whole cell; elsewhere to half a cell.

    Args:
        upper: length as a part of the width, 0 to 1.
        lower: likewise.
        width: in cells.
        palette: blue above, amber below, on the track.
        faint: draw the upper one grey (the candidate was cut).
    """
    if width <= 0:
        return []
    top, bottom = (round(min(1.0, max(0.0, part)) * width * 2) for part in (upper, lower))
    above = palette.faint if faint else palette.model
    below, track = palette.sampler, palette.track
    cells: list[tuple[str, str, str]] = []
    for cell in range((max(top, bottom) + 1) // 2):
        a, b = min(2, max(0, top - 2 * cell)), min(2, max(0, bottom - 2 * cell))
        if a and b:
            cells.append((BOTH, above, below))
        elif a:
            cells.append((UPPER if a == 2 else "▘", above, track))
        else:
            cells.append((LOWER if b == 2 else "▖", below, track))
    return _runs(cells, blank=width - len(cells), track=track)


def stacked_bar(lengths: Sequence[tuple[float, str]], width: int, track: str) -> list[Segment]:
    """Parts beside each other: each gets its share of ``width`` cells, cut at cumulative rounding.

    Args:
        lengths: (amount, colour), in order; amounts of one unit.
        width: in cells.
        track: what is drawn where the sum is nothing.
    """
    total = sum(amount for amount, _ in lengths)
    if width <= 0:
        return []
    if total <= 0:
        return _runs([], blank=width, track=track)
    cells: list[tuple[str, str, str]] = []
    summed, at = 0.0, 0
    for amount, colour in lengths:
        summed += amount
        end = round(summed / total * width)
        cells.append(("█" * (end - at), colour, track))
        at = end
    return _runs(cells, blank=width - at, track=track)


def sparkline(values: Sequence[float], top: float) -> str:
    """One character a value, from 0 to ``top``: eight levels."""
    if top <= 0:
        return LEVELS[0] * len(values)
    return "".join(LEVELS[min(7, max(0, round(value / top * 8) - 1))] for value in values)


def _runs(cells: list[tuple[str, str, str]], blank: int, track: str) -> list[Segment]:
    """Cells of the same colours joined into one segment, and a blank track behind them."""
    joined: list[tuple[str, str, str]] = []
    for text, foreground, background in cells:
        if not text:
            continue
        if joined and joined[-1][1:] == (foreground, background):
            joined[-1] = (joined[-1][0] + text, foreground, background)
        else:
            joined.append((text, foreground, background))
    segments = [Segment(text, style(fg, bg)) for text, fg, bg in joined]
    if blank > 0:
        segments.append(Segment(" " * blank, style(track, track)))
    return segments
