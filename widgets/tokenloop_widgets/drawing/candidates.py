"""The table of the next token's candidates: two bars a row, what was cut, the tail."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from textual.strip import Strip

from tokenloop.records import Candidate, Choice, Tail
from tokenloop_widgets.drawing.bars import double_bar
from tokenloop_widgets.drawing.cells import Line, fill_height, first_fitting, safe, width_of
from tokenloop_widgets.drawing.figures import PERCENT_WIDTH, count, percent, stage_name
from tokenloop_widgets.palette import Palette

SCALES = (1.0, 0.2, 0.05)
"""What the whole width of a bar may stand for; the header states which."""

VISIBLE = 1e-9
"""Sums of float64 probabilities that should be nothing come out this small."""

MARKS = 2  # ▌ highlighted, ▸ chosen
LABEL_LEAST, BAR_LEAST, BAR_GOOD = 6, 8, 24
LOGIT_WIDTH, ID_WIDTH = 6, 6

Kind = Literal["header", "candidate", "pinned", "tail"]


@dataclass(frozen=True)
class Row:
    """What a line of the table shows; ``index`` is of ``choice.candidates`` (or -1)."""

    kind: Kind
    index: int = -1


@dataclass(frozen=True)
class Columns:
    """Widths in cells; 0 where there is no room (or no use) for a column."""

    rank: int
    label: int
    id: int
    logit: int
    p: int
    bar: int
    final: int

    @classmethod
    def fit(cls, width: int, *, most: int, final: bool) -> Columns:
        """The columns that fit, the most telling ones first.

        Args:
            width: cells in all.
            most: the largest rank in the table.
            final: whether there is a final distribution to show.
        """
        rank = max(3, len(str(most)))
        if width < MARKS + rank + 1 + LABEL_LEAST:
            return cls(0, max(0, width - MARKS), 0, 0, 0, 0, 0)
        room = width - MARKS - rank - 2
        label = min(room, max(LABEL_LEAST, min(18, width // 4)))
        room -= label
        p = final_width = bar = logit = token_id = 0
        if room > PERCENT_WIDTH:
            p = PERCENT_WIDTH
            room -= 1 + p
        if final and room > PERCENT_WIDTH:
            final_width = PERCENT_WIDTH
            room -= 1 + final_width
        if room - 1 >= BAR_LEAST + LOGIT_WIDTH + 1:
            logit = LOGIT_WIDTH
            room -= 1 + logit
        if room - 1 >= BAR_GOOD + ID_WIDTH + 1:
            token_id = ID_WIDTH
            room -= 1 + token_id
        if room - 1 >= BAR_LEAST:
            bar = room - 1
        else:
            label += room
        return cls(rank, label, token_id, logit, p, bar, final_width)


def scale_of(choice: Choice) -> float:
    """The smallest of the fixed scales that no bar exceeds."""
    longest = max((max(c.p, c.final_p or 0.0) for c in choice.candidates), default=1.0)
    longest = max(longest, choice.chosen.p, choice.chosen.final_p or 0.0)
    return min((scale for scale in SCALES if longest <= scale), default=1.0)


def body_height(height: int) -> int:
    """Lines left for candidates between header and tail."""
    return max(0, height - (height >= 4) - (height >= 3))


def table_rows(choice: Choice, height: int, top: int) -> list[Row]:
    """Which row each line shows when the table is scrolled to candidate ``top``.

    The chosen one is always there: pinned to the last line where it lies outside the window.
    """
    body = body_height(height)
    shown = list(range(top, min(len(choice.candidates), top + body)))
    rows = [Row("candidate", index) for index in shown]
    if body and all(choice.candidates[index].id != choice.chosen.id for index in shown):
        rows = [*rows[: body - 1], Row("pinned")]
    if height >= 4:
        rows.insert(0, Row("header"))
    if height >= 3:
        rows.append(Row("tail"))
    return rows


def below(choice: Choice, rows: list[Row]) -> Tail:
    """The tail of the table as it stands: what is below its last row, shown nowhere.

    Candidates that the choice holds but the window does not reach are part of it, so that rows
    from the first to the last and the tail always sum to one.
    """
    end = max((row.index + 1 for row in rows if row.kind == "candidate"), default=0)
    pinned = choice.chosen if any(row.kind == "pinned" for row in rows) else None
    hidden = [c for c in choice.candidates[end:] if pinned is None or c.id != pinned.id]
    cut = Counter(choice.tail.cut)
    cut.update(c.cut_by for c in hidden if c.cut_by is not None)
    number, p, final_p = choice.tail.count, choice.tail.p, choice.tail.final_p
    if pinned is not None and pinned.rank > len(choice.candidates):
        number, p = number - 1, p - pinned.p
        final_p = final_p if final_p is None else final_p - (pinned.final_p or 0.0)
        if pinned.cut_by is not None:
            cut[pinned.cut_by] -= 1
    return Tail(
        count=number + len(hidden),
        p=max(0.0, p + sum(c.p for c in hidden)),
        final_p=None
        if final_p is None
        else max(0.0, final_p + sum(c.final_p or 0.0 for c in hidden)),
        cut={name: n for name, n in cut.items() if n > 0},
    )


def candidates_strips(
    choice: Choice | None,
    width: int,
    height: int,
    palette: Palette,
    *,
    top: int = 0,
    highlighted: int | None = None,
    landed: bool = False,
    placeholder: str = "",
) -> list[Strip]:
    """Draw the table.

    Args:
        choice: what to draw, or ``None`` for the placeholder.
        width: in cells.
        height: in lines.
        palette: the colours.
        top: index of the first candidate in the window.
        highlighted: index of the candidate under the cursor.
        landed: mark the chosen row.
        placeholder: said where there is no choice.
    """
    ground = palette.on(palette.soft)
    if choice is None:
        strips = [Line(width, ground).add(placeholder, ground).strip()] if placeholder else []
        return fill_height(strips, width, height, ground)
    given = choice.draw.how == "given"
    last = min(len(choice.candidates), top + height)
    most = max([choice.chosen.rank, *(c.rank for c in choice.candidates[top:last])])
    columns = Columns.fit(width, most=most, final=not given)
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
                    chosen=chosen,
                    highlighted=not pinned and row.index == highlighted,
                    landed=landed and chosen,
                )
            )
    return fill_height(strips, width, height, ground)


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
    *,
    chosen: bool,
    highlighted: bool,
    landed: bool,
) -> Strip:
    behind = palette.cursor if highlighted else palette.sampler_faint if landed else palette.ground
    cut = candidate.cut_by is not None

    plain = palette.on(palette.soft, background=behind)
    line = Line(width, plain)
    line.add("▌" if highlighted else " ", palette.on(palette.text, background=behind))
    line.add("▸" if chosen else " ", palette.on(palette.sampler, background=behind))
    if columns.rank:
        line.right(str(candidate.rank), plain, columns.rank).skip(2)
    words = palette.faint if cut and not highlighted else palette.text
    start = line.at
    label = safe(candidate.label)
    spaces = len(label) - len(label.lstrip("␣"))
    if spaces < width_of(label) and spaces < columns.label:
        line.add(label[:spaces], palette.on(palette.faint, background=behind))
        label = label[spaces:]
    line.left(
        label,
        palette.on(words, bold=chosen, underline=candidate.special, background=behind),
        columns.label - (line.at - start),
    )
    if columns.id:
        line.skip(1).right(str(candidate.id), plain, columns.id)
    if columns.logit:
        line.skip(1).right(f"{candidate.logit:.2f}", plain, columns.logit)
    model = palette.on(palette.faint if cut else palette.model, background=behind)
    if columns.p:
        line.skip(1).right(percent(candidate.p), model, columns.p)
    if columns.bar:
        bars = double_bar(
            candidate.p / scale, (candidate.final_p or 0.0) / scale, columns.bar, palette, faint=cut
        )
        line.skip(1).extend(bars)
    if columns.final:
        line.skip(1)
        if candidate.cut_by is not None:
            line.right(stage_name(candidate.cut_by), model, columns.final)
        else:
            final = palette.on(palette.sampler, bold=chosen, background=behind)
            line.right(percent(candidate.final_p), final, columns.final)
    return line.strip()


def _tail(choice: Choice, tail: Tail, columns: Columns, width: int, palette: Palette) -> Strip:
    soft = palette.on(palette.soft)
    line = Line(width, soft).skip(MARKS)
    if columns.rank:
        line.right("…", soft, columns.rank).skip(2)
    start = line.at
    line.left(f"{count(tail.count)} more" if tail.count else "no more", soft, columns.label)
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


def fates(tail: Tail) -> list[str]:
    """What became of the tail, the fullest way to say it first.

    ``49,112 cut by top-k, 26 by top-p, 3 can be drawn``, then ``cut: top-k 49,112, top-p 26``,
    then less and less.
    """
    cut = [(stage_name(name), count(number)) for name, number in _most_first(tail.cut)]
    long = [
        f"{number} {'' if index else 'cut '}by {name}" for index, (name, number) in enumerate(cut)
    ]
    left = tail.count - sum(tail.cut.values())
    full = [*long, f"{count(left)} can be drawn"] if left > 0 else long
    short = ["cut: " + ", ".join(f"{name} {number}" for name, number in cut)] if cut else []
    shorter = [", ".join(long[:n]) for n in range(len(long) - 1, 0, -1)]
    return [", ".join(full), ", ".join(long), *short, *shorter]


def _most_first(cut: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(cut.items(), key=lambda item: -item[1])
