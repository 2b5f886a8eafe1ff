"""Two chains on the same logits: their funnels in brief, and each candidate's fate in both."""

from __future__ import annotations

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from tokenloop.records import ChainRecord, ComparedCandidate, Comparison
from tokenloop_widgets.drawing.bars import half_cells
from tokenloop_widgets.drawing.cells import (
    Line,
    clip,
    fill_height,
    first_fitting,
    parts,
    placeholder_strips,
    safe,
    width_of,
)
from tokenloop_widgets.drawing.comparison_layout import (
    GAP,
    MARKS,
    Columns,
    Heights,
    acted,
    scale_of,
)
from tokenloop_widgets.drawing.figures import bits, count, percent, stage_name
from tokenloop_widgets.drawing.scales import scale_text
from tokenloop_widgets.drawing.stage_words import stage_flow, stage_setting
from tokenloop_widgets.palette import Palette, style

ALIKE = 1e-9
"""Differences of float64 probabilities that should be nothing come out this small."""


def comparison_strips(
    comparison: Comparison | None,
    width: int,
    height: int,
    palette: Palette,
    *,
    top: int = 0,
    highlighted: int | None = None,
    side: int | None = None,
    placeholder: str = "",
) -> list[Strip]:
    """Draw the two chains.

    Args:
        comparison: what to draw, or ``None`` for the placeholder.
        width: in cells.
        height: in lines.
        palette: the colours.
        top: index of the first candidate in the window.
        highlighted: index of the candidate under the cursor.
        side: the side whose chain the keys choose, 0 or 1.
        placeholder: said where there is nothing to draw.
    """
    soft = palette.on(palette.soft)
    if comparison is None:
        return placeholder_strips(placeholder, width, height, soft)
    heights, columns = Heights.fit(height, comparison), Columns.fit(width)
    blank = Line(width, soft).strip()
    strips = _funnels(comparison, heights.funnel, width, palette, side)
    if heights.funnel > 1:
        strips.append(blank)
    if heights.header:
        strips.append(_header(comparison, columns, width, palette))
    scale, body = scale_of(comparison), heights.body(height)
    end = min(len(comparison.candidates), top + body)
    for index in range(top, end):
        strips.append(_row(comparison, index, columns, scale, width, palette, highlighted))
    if heights.told:
        strips += [blank] * (body - max(0, end - top) + 1)
        strips += _told(comparison, width, palette)[: heights.told]
    return fill_height(strips, width, height, soft)


# the two chains


def _funnels(
    comparison: Comparison, lines: int, width: int, palette: Palette, side: int | None
) -> list[Strip]:
    half = (width - 2 * GAP) // 2
    left = _funnel(comparison.left, lines, half, palette, chosen=side == 0)
    right = _funnel(comparison.right, lines, half, palette, chosen=side == 1)
    gap = Strip([Segment(" " * (width - 2 * max(0, half)), palette.on(palette.soft))])
    if half <= 0:
        return [Line(width, palette.on(palette.soft)).strip() for _ in range(lines)]
    return [Strip.join([a, gap, b]) for a, b in zip(left, right, strict=True)]


def _funnel(
    chain: ChainRecord, lines: int, width: int, palette: Palette, *, chosen: bool
) -> list[Strip]:
    """A chain's name, what it leaves, and the stages that acted, as many as there are lines."""
    if not lines:
        return []
    soft, amber = palette.on(palette.soft), palette.on(palette.sampler)
    name = f"‹ {safe(chain.name)} ›" if chosen else f"  {safe(chain.name)}"
    ink = palette.on(palette.text, bold=True, underline=chosen)
    title = Line(width, soft).add(name, ink)
    items = [(f"{count(chain.survivors)} left", amber), (bits(chain.entropy_bits), soft)]
    strips = [parts(title, items, gap=2).strip()]
    stages = acted(chain)
    room = lines - 1
    shown = stages if len(stages) <= room else stages[: room - 1]
    for stage in shown:
        line = Line(width, soft).skip(2).add(stage_name(safe(stage.name)), palette.on(palette.text))
        line.skip(1).add(safe(stage_setting(stage)), palette.on(palette.sampler, bold=True))
        strips.append(parts(line, [(stage_flow(stage), soft)], gap=2).strip())
    if len(shown) < len(stages) and room > 0:
        more = f"and {len(stages) - len(shown)} stages more"
        strips.append(Line(width, soft).skip(2).add(more, soft).strip())
    return fill_height(strips, width, lines, soft)


# the candidates


def _header(comparison: Comparison, columns: Columns, width: int, palette: Palette) -> Strip:
    faint, amber = palette.on(palette.faint), palette.on(palette.sampler)
    line = Line(width, faint).skip(MARKS)
    scale = scale_text(scale_of(comparison))
    if columns.p:
        line.right("left", amber, columns.p)
    if columns.bar:
        line.skip(1).left(scale, faint, columns.bar)
    line.skip(1 if columns.p else 0)
    line.add(_centred("token", columns.label), faint)
    if columns.bar:
        line.skip(1).right(scale, faint, columns.bar)
    if columns.p:
        line.skip(1).right("right", amber, columns.p)
    if columns.change:
        line.skip(GAP).right("change", faint, columns.change)
    if columns.model:
        line.skip(GAP).right("model", palette.on(palette.model), columns.model)
    return line.strip()


def _row(
    comparison: Comparison,
    index: int,
    columns: Columns,
    scale: float,
    width: int,
    palette: Palette,
    highlighted: int | None,
) -> Strip:
    candidate, lit = comparison.candidates[index], index == highlighted
    behind = palette.cursor if lit else palette.ground
    track = palette.track if not lit else behind
    plain = palette.on(palette.soft, background=behind)
    line = Line(width, plain).add("▌" if lit else " ", palette.on(palette.text, background=behind))
    line.skip(MARKS - 1)
    amber = style(palette.sampler, track)
    drawn = [chain.chosen.id == candidate.id for chain in (comparison.left, comparison.right)]
    if columns.p:
        _fate(line, candidate.left_p, candidate.left_cut_by, columns.p, palette, behind)
    if columns.bar:
        cells = "".join(reversed(half_cells(candidate.left_p / scale, columns.bar, half="▐")))
        line.skip(1).add(cells, amber)
    line.add("▸" if drawn[0] else " ", palette.on(palette.sampler, background=behind))
    ink = palette.on(palette.text, bold=any(drawn), underline=candidate.special, background=behind)
    line.add(_centred(safe(candidate.label), columns.label), ink)
    if columns.bar or columns.p:
        line.add("◂" if drawn[1] else " ", palette.on(palette.sampler, background=behind))
    if columns.bar:
        line.add("".join(half_cells(candidate.right_p / scale, columns.bar)), amber)
    if columns.p:
        line.skip(1 if columns.bar else 0)
        _fate(line, candidate.right_p, candidate.right_cut_by, columns.p, palette, behind)
    if columns.change:
        line.skip(GAP).right(_change(candidate), plain, columns.change)
    if columns.model:
        blue = palette.on(palette.model, background=behind)
        line.skip(GAP).right(percent(candidate.p), blue, columns.model)
    return line.strip()


def _fate(
    line: Line, p: float, cut_by: str | None, width: int, palette: Palette, behind: str
) -> None:
    """A final probability, or the stage that cut the candidate."""
    if cut_by is None:
        line.right(percent(p), palette.on(palette.sampler, background=behind), width)
    else:
        name = first_fitting((stage_name(safe(cut_by)), "cut"), width)
        line.right(name, palette.on(palette.faint, background=behind), width)


def _centred(text: str, width: int) -> str:
    text = clip(text, width)
    left = (width - width_of(text)) // 2
    return " " * left + text + " " * (width - left - width_of(text))


def _change(candidate: ComparedCandidate) -> str:
    """Right minus left in points, or who keeps it alone."""
    if (candidate.left_cut_by is None) != (candidate.right_cut_by is None):
        return "only left" if candidate.right_cut_by is not None else "only right"
    points = (candidate.right_p - candidate.left_p) * 100
    return "0.0" if abs(points) < 0.05 else f"{points:+.1f}".replace("-", "−")


# in words


def _told(comparison: Comparison, width: int, palette: Palette) -> list[Strip]:
    soft, text = palette.on(palette.soft), palette.on(palette.text)
    bold = palette.on(palette.text, bold=True)
    elsewhere = f"{percent(comparison.total_variation)} of the probability lies elsewhere"
    if comparison.total_variation < ALIKE:
        elsewhere = "the same distribution from both"
    kept = (
        f"both keep {count(comparison.both)}",
        f"only left {count(comparison.only_left)}",
        f"only right {count(comparison.only_right)}",
    )
    first = [(elsewhere, bold), *((said, soft) for said in kept), ("(total variation)", soft)]
    lines: list[list[tuple[str, Style]]] = [first, _draws(comparison, text, soft, palette)]
    return [parts(Line(width, soft).skip(MARKS), items, gap=2).strip() for items in lines]


def _draws(
    comparison: Comparison, text: Style, soft: Style, palette: Palette
) -> list[tuple[str, Style]]:
    """What each draws under the same u."""
    left, right = comparison.left, comparison.right
    u = next((chain.draw.u for chain in (left, right) if chain.draw.u is not None), None)
    same = left.chosen.id == right.chosen.id
    luck = f"the same u = {u:.4f}" if u is not None else "greedy on both sides"
    amber = palette.on(palette.sampler, bold=True)
    if same:
        return [(luck, amber), (f"draws {safe(left.chosen.label)} from both", text)]
    return [
        (luck, amber),
        (f"left ▸ {safe(left.chosen.label)}", text),
        (f"right ◂ {safe(right.chosen.label)}", text),
        ("another token", soft),
    ]
