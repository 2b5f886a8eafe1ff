"""How the table of candidates is laid out: its scale, columns, rows and tail."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from tokenloop.records import Candidate, Choice, Tail
from tokenloop_widgets.drawing.figures import PERCENT_WIDTH, count, stage_name

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
    def fit(
        cls,
        width: int,
        *,
        most: int,
        final: bool,
        fate: int = PERCENT_WIDTH,
        logit_needs: int = LOGIT_WIDTH,
        id_needs: int = ID_WIDTH,
    ) -> Columns:
        """The columns that fit, the most telling ones first.

        Args:
            width: cells in all.
            most: the largest rank in the table.
            final: whether there is a final distribution to show.
            fate: cells for a final probability, or the longest name of a stage that cut.
            logit_needs: cells for the longest logit.
            id_needs: cells for the longest id.
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
            # A name in full takes cells of the bar and the label, down to their least.
            more = fate - final_width
            spare = room - 1 - BAR_LEAST if room - 1 >= BAR_LEAST else room
            lent = max(0, more - spare)
            if label - lent >= LABEL_LEAST:
                final_width += more
                label -= lent
                room -= more - lent
        if room - 1 >= BAR_LEAST + logit_needs + 1:
            logit = logit_needs
            room -= 1 + logit
        if room - 1 >= BAR_GOOD + id_needs + 1:
            token_id = id_needs
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


def cutting(choice: Choice) -> list[str]:
    """The stages that cut any candidate, by name."""
    return [stage.name for stage in choice.stages if stage.survivors < stage.survivors_before]


def extremes(choice: Choice) -> tuple[Candidate, ...]:
    """The candidates with the largest and the smallest logit of the table: its first and last."""
    return (*choice.candidates[:1], *choice.candidates[-1:], choice.chosen)


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


def fates(tail: Tail) -> list[str]:
    """What became of the tail, the fullest way to say it first.

    ``49,112 cut by top-k, 26 by top-p, 3 can be drawn``, then ``top-k cut 49,112, top-p 26``,
    then less and less.
    """
    cut = [(stage_name(name), count(number)) for name, number in _most_first(tail.cut)]
    long = [
        f"{number} {'' if index else 'cut '}by {name}" for index, (name, number) in enumerate(cut)
    ]
    left = tail.count - sum(tail.cut.values())
    full = [*long, f"{count(left)} can be drawn"] if left > 0 else long
    brief = [
        f"{name} {'' if index else 'cut '}{number}" for index, (name, number) in enumerate(cut)
    ]
    shorter = [", ".join(long[:n]) for n in range(len(long) - 1, 0, -1)]
    return [", ".join(full), ", ".join(long), ", ".join(brief), *shorter]


def _most_first(cut: dict[str, int]) -> list[tuple[str, int]]:
    return sorted(cut.items(), key=lambda item: -item[1])
