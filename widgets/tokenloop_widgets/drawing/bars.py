"""Bars out of block characters; a bar of length zero is drawn as nothing."""

from __future__ import annotations

from collections.abc import Sequence

from rich.segment import Segment

from tokenloop_widgets.drawing.cells import clip, width_of
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


def half_cells(part: float, width: int, *, half: str = "▌") -> list[str]:
    """The cells of a bar of ``part`` (0 to 1) of ``width`` cells, to half a cell."""
    full, rest = divmod(round(min(1.0, max(0.0, part)) * width * 2), 2)
    return ["█"] * full + [half] * rest + [" "] * (width - full - rest)


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
    upper: float,
    lower: float,
    width: int,
    palette: Palette,
    *,
    faint: bool = False,
    track: str = "",
) -> list[Segment]:
    """Two bars in one row by half blocks: the model's above, the final one below.

    A cell has two colours only: half a cell of one bar can't stand in a cell that the other one
    uses. There it is left out, so that the difference of the two shows; but never a whole bar.

    Args:
        upper: length as a part of the width, 0 to 1.
        lower: likewise.
        width: in cells.
        palette: blue above, amber below, on the track.
        faint: draw the upper one grey (the candidate was cut).
        track: the colour behind them, where it isn't the palette's.
    """
    if width <= 0:
        return []
    top, bottom = (round(min(1.0, max(0.0, part)) * width * 2) for part in (upper, lower))
    above = palette.faint if faint else palette.model
    below, track = palette.sampler, track or palette.track
    cells: list[tuple[str, str, str]] = []
    for cell in range((max(top, bottom) + 1) // 2):
        a, b = min(2, max(0, top - 2 * cell)), min(2, max(0, bottom - 2 * cell))
        if a != b and cell:
            a, b = (0 if b == 2 and a == 1 else a), (0 if a == 2 and b == 1 else b)
        if a and b:
            cells.append((BOTH, above, below))
        elif a:
            cells.append((UPPER if a == 2 else "▘", above, track))
        else:
            cells.append((LOWER if b == 2 else "▖", below, track))
    return _runs(cells, blank=width - len(cells), track=track)


def stacked_bar(
    lengths: Sequence[tuple[float, str, str]], width: int, palette: Palette
) -> list[Segment]:
    """Parts beside each other, each named inside where its name fits.

    Args:
        lengths: (amount, colour, name), in order; amounts of one unit. Each gets its share of the
            width, cut at the rounded cumulative sum.
        width: in cells.
        palette: for what is behind, and the names' ink.
    """
    total = sum(amount for amount, _, _ in lengths)
    if width <= 0:
        return []
    if total <= 0:
        return _runs([], blank=width, track=palette.track)
    segments: list[Segment] = []
    summed, at = 0.0, 0
    for amount, colour, name in lengths:
        summed += amount
        end = round(summed / total * width)
        if end > at:
            segments.append(Segment(inside(name, end - at), style(palette.ground, colour)))
        at = end
    return segments


def inside(label: str, width: int) -> str:
    """A label centred in ``width`` cells behind a bound ``▏``; only the bound where it is too long.

    Parts beside each other are thus told apart without colour.
    """
    if width <= 0:
        return ""
    text = label if width_of(label) <= width - 2 else clip(label, width - 2) if width >= 8 else ""
    bound = "▏" if width > 1 else " "
    left = max(1, (width - width_of(text)) // 2)
    return bound + " " * (left - 1) + text + " " * (width - left - width_of(text))


def sparkline(values: Sequence[float], top: float, rows: int = 1) -> list[str]:
    """A column a value, from 0 to ``top``: eight levels a row, the upper row first."""
    levels = [max(1, round(value / top * 8 * rows)) if top > 0 else 1 for value in values]
    lines = []
    for row in reversed(range(rows)):
        cells = (min(8, max(0, level - 8 * row)) for level in levels)
        lines.append("".join(LEVELS[cell - 1] if cell else " " for cell in cells))
    return lines


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
