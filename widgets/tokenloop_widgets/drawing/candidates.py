"""The table of the next token's candidates: two bars a row, what was cut, the tail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from textual.strip import Strip

from tokenloop.records import Candidate, Choice
from tokenloop_widgets.drawing.bars import double_bar
from tokenloop_widgets.drawing.cells import Line, fill_height, safe, width_of
from tokenloop_widgets.drawing.figures import PERCENT_WIDTH, count, percent, stage_name
from tokenloop_widgets.palette import Palette

SCALES = (1.0, 0.2, 0.05)
"""What the whole width of a bar may stand for; the header states which."""

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
    for row in table_rows(choice, height, top):
        if row.kind == "header":
            strips.append(_header(columns, width, scale, palette))
        elif row.kind == "tail":
            strips.append(_tail(choice, columns, width, palette))
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


def _tail(choice: Choice, columns: Columns, width: int, palette: Palette) -> Strip:
    soft = palette.on(palette.soft)
    tail = choice.tail
    line = Line(width, soft).skip(MARKS)
    if columns.rank:
        line.right("…", soft, columns.rank).skip(2)
    more = f"{count(tail.count)} more" if tail.count else "no more"
    start = line.at
    line.left(more, soft, columns.label)
    if columns.p:
        column = start + columns.label + bool(columns.id) * (columns.id + 1)
        column += bool(columns.logit) * (columns.logit + 1)
        line.to(column + 1).right(percent(tail.p), palette.on(palette.model), columns.p)
    survives = bool(tail.final_p)
    end = width - (columns.final + 1 if survives and columns.final else 0)
    note = tail_note(choice, end - line.at - 1)
    if note:
        line.skip(1).add(note, palette.on(palette.faint))
    if survives and columns.final:
        final = palette.on(palette.sampler)
        line.to(end + 1).right(percent(tail.final_p), final, columns.final)
    return line.strip()


def tail_note(choice: Choice, room: int) -> str:
    """What became of the tail, in as many whole clauses as fit: ``49,112 cut by top-k, …``."""
    if choice.draw.how == "given":
        clauses = ["given by you: nothing was drawn"]
    else:
        cut = sorted(choice.tail.cut.items(), key=lambda item: -item[1])
        clauses = [f"{count(number)} by {stage_name(name)}" for name, number in cut if number]
        if clauses:
            clauses[0] = clauses[0].replace(" by ", " cut by ", 1)
        left = choice.tail.count - sum(choice.tail.cut.values())
        if left and choice.tail.count:
            clauses.append(f"{count(left)} left to draw")
    while clauses and width_of(", ".join(clauses)) > room:
        clauses.pop()
    return ", ".join(clauses)
