"""The table of the next token's candidates: two bars a row, what was cut, the tail."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from rich.style import Style
from textual.strip import Strip

from tokenloop.records import Candidate, Choice, Tail
from tokenloop_widgets.drawing.bars import double_bar
from tokenloop_widgets.drawing.candidates_layout import (
    ID_WIDTH,
    LOGIT_WIDTH,
    MARKS,
    SCALES,
    Columns,
    below,
    cutting,
    extremes,
    fates,
    scale_of,
    table_rows,
)
from tokenloop_widgets.drawing.cells import (
    Line,
    fill_height,
    first_fitting,
    placeholder_strips,
    safe,
    width_of,
)
from tokenloop_widgets.drawing.figures import PERCENT_WIDTH, count, percent, stage_name
from tokenloop_widgets.palette import Palette

VISIBLE = 1e-9
"""Sums of float64 probabilities that should be nothing come out this small."""

LABEL_BIASED = 4
"""Cells that a bias leaves its token's label at least."""

WATCHED, BANNED = "◉", "banned"


@dataclass(frozen=True)
class Marks:
    """What is marked in the table.

    Attributes:
        highlighted: index of the candidate under the cursor.
        landed: mark the chosen row.
        watched: ids that are pinned.
        biases: what the person adds to logits, by id; minus infinity bans.
    """

    highlighted: int | None = None
    landed: bool = False
    watched: Collection[int] = ()
    biases: Mapping[int, float] = field(default_factory=dict)


def candidates_strips(
    choice: Choice | None,
    width: int,
    height: int,
    palette: Palette,
    *,
    top: int = 0,
    marks: Marks = Marks(),
    placeholder: str = "",
) -> list[Strip]:
    """Draw the table.

    Args:
        choice: what to draw, or ``None`` for the placeholder.
        width: in cells.
        height: in lines.
        palette: the colours.
        top: index of the first candidate in the window.
        marks: what is marked.
        placeholder: said where there is no choice.
    """
    ground = palette.on(palette.soft)
    if choice is None:
        return placeholder_strips(placeholder, width, height, ground)
    given = choice.draw.how == "given"
    last = min(len(choice.candidates), top + height)
    most = max([choice.chosen.rank, *(c.rank for c in choice.candidates[top:last])])
    columns = Columns.fit(
        width,
        most=most,
        final=not given,
        fate=max([PERCENT_WIDTH, *(len(stage_name(name)) for name in cutting(choice))]),
        logit_needs=max([LOGIT_WIDTH, *(len(_logit(c)) for c in extremes(choice))]),
        id_needs=max(ID_WIDTH, len(str(choice.vocab_size - 1))),
    )
    scale = scale_of(choice)
    strips = []
    rows = table_rows(choice, height, top)
    for row in rows:
        if row.kind == "header":
            strips.append(_header(columns, width, scale, palette))
        elif row.kind == "tail":
            strips.append(_tail(choice, below(choice, rows), columns, width, palette))
        else:
            pinned = row.kind == "pinned"
            candidate = choice.chosen if pinned else choice.candidates[row.index]
            chosen = candidate.id == choice.chosen.id
            strips.append(
                _candidate(
                    candidate,
                    columns,
                    width,
                    scale,
                    palette,
                    marks,
                    chosen=chosen,
                    highlighted=not pinned and row.index == marks.highlighted,
                )
            )
    return fill_height(strips, width, height, ground)


def _logit(candidate: Candidate) -> str:
    return f"{candidate.logit:.2f}"


def _header(columns: Columns, width: int, scale: float, palette: Palette) -> Strip:
    soft = palette.on(palette.soft)
    line = Line(width, palette.on(palette.soft)).skip(MARKS)
    if columns.rank:
        line.right("#", soft, columns.rank).skip(2)
    line.left("token", soft, columns.label)
    if columns.id:
        line.skip(1).right("id", soft, columns.id)
    if columns.logit:
        line.skip(1).right("logit", soft, columns.logit)
    if columns.p:
        line.skip(1).right("model ▀", palette.on(palette.model), columns.p)
    if columns.bar:
        line.skip(1)
        for text in _ruler(columns.bar, scale):
            emphasis = scale != SCALES[0] and text.endswith("%")
            line.add(text, palette.on(palette.text if emphasis else palette.faint, bold=emphasis))
    if columns.final:
        line.skip(1).right("▄ final", palette.on(palette.sampler), columns.final)
    return line.strip()


def _ruler(width: int, scale: float) -> list[str]:
    """``0 ─── 50 ─── 100 %``: what the bars' width stands for."""
    end = f"{scale * 100:.0f} %"
    middle = f"{scale * 50:g}"
    if width < len(end) + len(middle) + 6:
        return ["0", " " * (width - 1 - len(end)), end]
    half = width // 2 - len(middle) // 2
    return [
        "0",
        " " + "─" * (half - 3) + " ",
        middle,
        " " + "─" * (width - half - len(middle) - len(end) - 2) + " ",
        end,
    ]


def _candidate(
    candidate: Candidate,
    columns: Columns,
    width: int,
    scale: float,
    palette: Palette,
    marks: Marks,
    *,
    chosen: bool,
    highlighted: bool,
) -> Strip:
    landed = marks.landed and chosen
    behind = palette.cursor if highlighted else palette.sampler_faint if landed else palette.ground
    cut = candidate.cut_by is not None
    bias = marks.biases.get(candidate.id, 0.0)

    plain = palette.on(palette.soft, background=behind)
    line = Line(width, plain)
    line.add("▌" if highlighted else " ", palette.on(palette.text, background=behind))
    line.add("▸" if chosen else " ", palette.on(palette.sampler, background=behind))
    if columns.rank:
        line.right(str(candidate.rank), plain, columns.rank).skip(1)
        watched = palette.on(palette.text, background=behind)
        line.left(WATCHED if candidate.id in marks.watched else "", watched, 1)
    words = palette.faint if cut and not highlighted else palette.text
    said = f" {bias:+g}" if bias and math.isfinite(bias) else ""
    if columns.label - width_of(said) < LABEL_BIASED:
        said = ""
    style = palette.on(words, bold=chosen, underline=candidate.special, background=behind)
    faint = palette.on(palette.faint, background=behind)
    _label(line, safe(candidate.label), columns.label - width_of(said), style, faint)
    line.add(said, palette.on(palette.sampler, bold=True, background=behind))
    if columns.id:
        line.skip(1).right(str(candidate.id), plain, columns.id)
    if columns.logit:
        line.skip(1).right(_logit(candidate), plain, columns.logit)
    model = palette.on(palette.faint if cut else palette.model, background=behind)
    if columns.p:
        line.skip(1).right(percent(candidate.p), model, columns.p)
    if columns.bar:
        model_part, final_part = candidate.p / scale, (candidate.final_p or 0.0) / scale
        track = palette.cursor if highlighted else palette.track
        bars = double_bar(model_part, final_part, columns.bar, palette, faint=cut, track=track)
        line.skip(1).extend(bars)
    if columns.final:
        line.skip(1)
        if candidate.cut_by is not None:
            fate = BANNED if bias == -math.inf else stage_name(candidate.cut_by)
            ink = palette.on(palette.sampler, background=behind) if fate == BANNED else model
            line.right(first_fitting((fate, "cut"), columns.final), ink, columns.final)
        else:
            final = palette.on(palette.sampler, bold=chosen, background=behind)
            line.right(percent(candidate.final_p), final, columns.final)
    return line.strip()


def _label(line: Line, label: str, width: int, style: Style, faint: Style) -> None:
    """A token's label in ``width`` cells, the blanks before it less bright than its word."""
    end = line.at + width
    spaces = len(label) - len(label.lstrip("␣"))
    if spaces < width_of(label) and spaces < width:
        line.add(label[:spaces], faint)
        label = label[spaces:]
    line.left(label, style, end - line.at)


def _tail(choice: Choice, tail: Tail, columns: Columns, width: int, palette: Palette) -> Strip:
    soft = palette.on(palette.soft)
    line = Line(width, soft).skip(MARKS)
    if columns.rank:
        line.right("…", soft, columns.rank).skip(2)
    start = line.at
    more = (f"{count(tail.count)} more", f"+{count(tail.count)}", "more")
    line.left(first_fitting(more, columns.label) if tail.count else "no more", soft, columns.label)
    if columns.p:
        between = sum(column + 1 for column in (columns.id, columns.logit) if column)
        line.to(start + columns.label + between + 1)
        line.right(percent(tail.p), palette.on(palette.model), columns.p)
    drawable = (tail.final_p or 0.0) >= VISIBLE and columns.final > 0
    end = width - (columns.final + 1 if drawable else 0)
    room = end - line.at - 1
    told = ["given by you: nothing was drawn"]
    if choice.draw.how != "given":
        told = fates(tail)
    line.skip(1).add(first_fitting(told, room), palette.on(palette.faint))
    if drawable:
        final = palette.on(palette.sampler)
        line.to(end + 1).right(percent(tail.final_p), final, columns.final)
    return line.strip()
