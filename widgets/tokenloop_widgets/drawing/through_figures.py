"""What the header of the table through the stages says of a column."""

from __future__ import annotations

from collections.abc import Sequence

from tokenloop.records import Choice
from tokenloop_widgets.drawing.figures import UNKNOWN
from tokenloop_widgets.drawing.sampler import survivors
from tokenloop_widgets.drawing.through_layout import FINAL, MODEL, Column


def left_by(column: Column, choice: Choice) -> int:
    """How many candidates are left after a column."""
    if column.record is not None:
        return column.record.survivors
    return choice.vocab_size if column.stage == MODEL else survivors(choice) or 0


def masses(columns: Sequence[Column], choice: Choice) -> list[float]:
    """What is left after each column of the probability that entered the chain."""
    left, after = 1.0, {MODEL: 1.0}
    for index, stage in enumerate(choice.stages):
        left *= 1 - stage.mass_cut
        after[index] = left
    after[FINAL] = left
    return [after[column.stage] for column in columns]


def entropy_of(column: Column, choice: Choice) -> str:
    """The entropy after a column, in bits."""
    value = choice.entropy_bits if column.stage == MODEL else choice.final_entropy_bits
    if column.record is not None:
        value = column.record.entropy_bits
    return UNKNOWN if value is None else f"{value + 0.0:.2f}"
