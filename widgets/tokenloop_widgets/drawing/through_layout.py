"""How the table of candidates through the stages is laid out: columns, rows, what scrolls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tokenloop.records import Candidate, Choice, StageRecord
from tokenloop_widgets.drawing.cells import width_of
from tokenloop_widgets.drawing.figures import PERCENT_WIDTH, count, stage_name
from tokenloop_widgets.drawing.scales import scale_for
from tokenloop_widgets.drawing.stage_words import stage_setting

MARKS = 2  # ▌ highlighted, ▸ chosen
GAP = 2
LABEL_LEAST, LABEL_MOST = 8, 20
COLUMN_MOST = 16
BAR_LEAST = 5
WIDEST = 30

MODEL, FINAL = -1, -2
"""What a column that is no stage stands for."""


@dataclass(frozen=True)
class Column:
    """A column: the model's opinion, the distribution after a stage, or the one drawn from.

    Attributes:
        stage: index into the chain, or ``MODEL`` or ``FINAL``.
        record: the stage's, or ``None`` of the two others.
    """

    stage: int
    record: StageRecord | None = None

    @property
    def name(self) -> str:
        """As the header says it."""
        if self.record is not None:
            return stage_name(self.record.name)
        return "model" if self.stage == MODEL else "final"

    def p(self, candidate: Candidate) -> float | None:
        """A candidate's probability there; ``None`` where it is not known."""
        if self.stage == MODEL:
            return candidate.p
        if self.stage == FINAL:
            return candidate.final_p
        return candidate.after[self.stage] if self.stage < len(candidate.after) else None


def columns_of(choice: Choice, *, every: bool) -> list[Column]:
    """The model, the stages that acted (or every one), and what is drawn from.

    A token that was given has no stages: the model's column stands alone.

    Args:
        choice: whose chain.
        every: stages that did nothing, too.
    """
    if choice.draw.how == "given":
        return [Column(MODEL)]
    stages = [
        Column(index, stage)
        for index, stage in enumerate(choice.stages)
        if every or stage.skipped is None
    ]
    return [Column(MODEL), *stages, Column(FINAL)]


def cutter(candidate: Candidate, choice: Choice) -> int | None:
    """The index of the stage that cut a candidate, or ``None`` of a survivor."""
    if candidate.cut_by is None:
        return None
    names = [stage.name for stage in choice.stages]
    return names.index(candidate.cut_by) if candidate.cut_by in names else None


def scale_of(choice: Choice, candidates: Sequence[Candidate]) -> float:
    """The smallest of the fixed scales that no cell exceeds."""
    shown = [*candidates, choice.chosen]
    return scale_for(p for one in shown for p in (one.p, one.final_p or 0.0, *one.after))


@dataclass(frozen=True)
class Placed:
    """A column on the screen: where it stands in the list of all, and its width with its gap."""

    index: int
    width: int


@dataclass(frozen=True)
class Layout:
    """What is where.

    Attributes:
        rank, label: widths in cells; 0 is left out.
        placed: the columns on screen, from left to right.
        before, after: how many stages lie beyond the left and the right edge.
        bar: cells for a bar beside each figure; 0 where there is no room.
    """

    rank: int
    label: int
    placed: tuple[Placed, ...]
    before: int
    after: int
    bar: int = 0

    @property
    def shown(self) -> set[int]:
        """Indices of the columns on screen."""
        return {placed.index for placed in self.placed}


def setting_of(stage: StageRecord) -> str:
    """A stage's setting, or that it is off."""
    return "off" if stage.off else stage_setting(stage)


def needs(column: Column, choice: Choice) -> int:
    """Cells for a column's figures and name, its gap included."""
    name = f"▾{column.name}"
    texts = [name, count(choice.vocab_size)]
    if column.record is not None:
        texts = [name, setting_of(column.record), count(column.record.survivors)]
    widest = max(PERCENT_WIDTH, *map(width_of, texts))
    return GAP + min(widest, COLUMN_MOST)


def fit(width: int, choice: Choice, columns: Sequence[Column], *, most: int, left: int) -> Layout:
    """Place as many whole columns as fit; model and final stay while the stages scroll.

    Args:
        width: in cells.
        choice: what the figures are of.
        columns: all of them.
        most: the largest rank, for its width.
        left: the first stage wanted, as an index into ``columns`` (1 is the first).
    """
    rank = max(3, len(str(most)))
    if width < MARKS + rank + 1 + LABEL_LEAST:
        return Layout(0, max(0, width - MARKS), (), 0, max(0, len(columns) - 2))
    label = min(LABEL_MOST, max(LABEL_LEAST, width // 6))
    room = width - MARKS - rank - 1 - label
    wanted = [needs(column, choice) for column in columns]
    last = len(columns) - 1
    pinned = [index for index in ([0, last] if last else [0]) if index <= last]
    kept: list[int] = []
    for index in reversed(pinned):  # what is drawn from before what the model said
        if wanted[index] <= room:
            kept.append(index)
            room -= wanted[index]
    stages = range(1, last)
    first = max(1, min(left, last - 1)) if len(stages) else 1
    fitting = _fitting(wanted, first, last, room)
    while first > 1 and fitting and fitting[-1] == last - 1:  # no empty room on the right
        more = _fitting(wanted, first - 1, last, room)
        if more[-1:] != [last - 1]:
            break
        first, fitting = first - 1, more
    room -= sum(wanted[index] for index in fitting)
    indices = sorted({*kept, *fitting})
    before = len([index for index in stages if index < first]) if fitting else 0
    after = len(stages) - before - len(fitting)
    widths, bar = [wanted[index] for index in indices], 0
    if indices and not before and not after:
        each = min(WIDEST, (room + sum(widths)) // len(indices))
        if each >= max(*widths, GAP + PERCENT_WIDTH + 1 + BAR_LEAST):
            room += sum(widths) - each * len(indices)
            widths, bar = [each] * len(indices), each - GAP - PERCENT_WIDTH - 1
    label += min(room, LABEL_MOST - label) if after == 0 else 0
    placed = tuple(Placed(index, size) for index, size in zip(indices, widths, strict=True))
    return Layout(rank, label, placed, before, after, bar)


def _fitting(wanted: Sequence[int], first: int, last: int, room: int) -> list[int]:
    fitting = []
    for index in range(first, last):
        if wanted[index] > room:
            break
        fitting.append(index)
        room -= wanted[index]
    return fitting


@dataclass(frozen=True)
class Heights:
    """Which lines there is room for besides the candidates."""

    names: bool
    settings: bool
    survivors: bool
    mass: bool
    entropy: bool
    tail: bool
    told: int

    @classmethod
    def fit(cls, height: int, *, tail: bool) -> Heights:
        """The lines that fit, the most telling ones first."""
        return cls(
            names=height >= 4,
            survivors=height >= 7,
            settings=height >= 9,
            mass=height >= 12,
            entropy=height >= 16,
            tail=tail and height >= 3,
            told=2 if height >= 14 else int(height >= 10),
        )

    @property
    def head(self) -> int:
        """Lines above the candidates."""
        return sum((self.names, self.settings, self.survivors, self.mass, self.entropy))

    def body(self, height: int) -> int:
        """Lines left for candidates."""
        below = self.told + (1 if self.told else 0)  # a blank line before what is told
        return max(0, height - self.head - self.tail - below)


@dataclass(frozen=True)
class Sight:
    """What of the table is in sight.

    Attributes:
        top: index of the first candidate in the window.
        left: the first stage wanted, as an index into the columns.
        row: index of the highlighted candidate, or ``None``.
        column: index of the highlighted column.
        every: show the stages that did nothing, too.
    """

    top: int = 0
    left: int = 1
    row: int | None = None
    column: int = 0
    every: bool = False


@dataclass(frozen=True)
class Row:
    """A candidate on a line; ``index`` is -1 of the marked draw that lies outside the window."""

    candidate: Candidate
    index: int


def rows_in_sight(
    choice: Choice, rows: Sequence[Candidate], body: int, top: int, *, whole: bool
) -> list[Row]:
    """The candidates of the window; where all are listed, the marked draw is always among them.

    Args:
        choice: whose draw is marked.
        rows: all candidates at hand.
        body: lines for them.
        top: index of the first.
        whole: whether the rows are the model's best, without a gap.
    """
    shown = [Row(rows[index], index) for index in range(top, min(len(rows), top + body))]
    if whole and shown and all(row.candidate.id != choice.chosen.id for row in shown):
        shown = [*shown[: body - 1], Row(choice.chosen, -1)]
    return shown
