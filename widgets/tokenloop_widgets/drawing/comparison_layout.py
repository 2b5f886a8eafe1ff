"""How two chains are laid out: widths, heights, and the length that bars share."""

from __future__ import annotations

from dataclasses import dataclass

from tokenloop.records import ChainRecord, Comparison, StageRecord
from tokenloop_widgets.drawing.figures import PERCENT_WIDTH
from tokenloop_widgets.drawing.scales import scale_for

MARKS, GAP = 2, 2
LABEL_LEAST, LABEL_MOST = 8, 18
BAR_LEAST = 4
CHANGE_WIDTH = len("only right")


@dataclass(frozen=True)
class Columns:
    """Widths in cells; 0 is left out. ``bar`` and ``p`` stand on either side of the label."""

    label: int
    p: int
    bar: int
    change: int
    model: int

    @classmethod
    def fit(cls, width: int) -> Columns:
        """The columns that fit, the most telling ones first."""
        room = width - MARKS
        label = max(0, min(LABEL_MOST, max(LABEL_LEAST, width // 6), room))
        room -= label
        p = bar = change = model = 0
        if room >= 2 * (GAP + PERCENT_WIDTH):
            p = PERCENT_WIDTH
            room -= 2 * (GAP + p)
        if p and room >= GAP + CHANGE_WIDTH:
            change = CHANGE_WIDTH
            room -= GAP + change
        if change and room >= GAP + PERCENT_WIDTH + 2 * (1 + BAR_LEAST):
            model = PERCENT_WIDTH
            room -= GAP + model
        if p and room >= 2 * (1 + BAR_LEAST):
            bar = room // 2 - 1
        return cls(label, p, bar, change, model)


@dataclass(frozen=True)
class Heights:
    """Lines for the funnels, for what is told below, and for the table between them."""

    funnel: int
    told: int
    header: bool

    @classmethod
    def fit(cls, height: int, comparison: Comparison) -> Heights:
        """As the height allows: names first, then stages, then what is told."""
        told = 2 if height >= 10 else int(height >= 5)
        stages = max(len(acted(comparison.left)), len(acted(comparison.right)))
        funnel = 0
        if height >= 6:
            funnel = 1 + min(stages, max(1, height // 3)) if height >= 9 else 1
        return cls(funnel, told, header=height >= 8)

    @property
    def head(self) -> int:
        """Lines above the candidates: the funnels with a blank one below them, and the header."""
        return self.funnel + (self.funnel > 1) + self.header

    def body(self, height: int) -> int:
        """Lines left for candidates."""
        return max(0, height - self.head - self.told - bool(self.told))


def body_height(comparison: Comparison, height: int) -> int:
    """Lines for candidates."""
    return Heights.fit(height, comparison).body(height)


def head_height(comparison: Comparison, height: int) -> int:
    """Lines above the candidates."""
    return Heights.fit(height, comparison).head


def scale_of(comparison: Comparison) -> float:
    """The smallest of the fixed scales that no bar exceeds."""
    return scale_for(max(c.left_p, c.right_p) for c in comparison.candidates)


def acted(chain: ChainRecord) -> list[StageRecord]:
    """The stages of a chain that changed something."""
    return [stage for stage in chain.stages if stage.skipped is None]
