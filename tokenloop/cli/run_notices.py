"""What a run says on stderr beside its steps: how it ended, and that the text repeats itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tokenloop.counting import counted

if TYPE_CHECKING:
    from tokenloop.records import Repetition, StageRecord, StepRecord
    from tokenloop.session import Session

MOST_SHOWN = 60
"""Characters of what repeats."""


def say_how_it_ended(record: StepRecord, made: int) -> None:
    """Say that a token ended the text; under a grammar, that the text is all that it asks for.

    Args:
        record: the last step.
        made: how many steps there were.
    """
    line = f"{record.token.label} ended the text after {counted(made, 'step')}"
    if _constrained(record.stages) is not None:  # which lets nothing end before its own end
        line += ": the grammar is complete"
    _say(f"{line} (--ignore-eos goes on)")


def say_what_is_missing(session: Session, made: int) -> None:
    """Say where a grammar stands, where the steps ended before it did.

    Args:
        session: after the last step.
        made: how many steps there were.
    """
    stage = _constrained(session.held.stages)
    if stage is not None:
        _say(f"stopped after {counted(made, 'step')}; the grammar: {stage.figures['state']}")


def say_repetition(session: Session) -> bool:
    """Say that the end of the text repeats itself, where it does; returns whether it was said."""
    from tokenloop.session.laboratory.repetition import find_loop

    if find_loop(session.ids) is None:
        return False
    found = session.snapshot().repetition
    if found is not None:
        _say(_repetition_line(found))
    return found is not None


def _repetition_line(found: Repetition) -> str:
    text = found.text if len(found.text) <= MOST_SHOWN else f"{found.text[:MOST_SHOWN]}…"
    line = f"the text repeats itself: {counted(found.period, 'token')}, {found.times} times: {text}"
    if found.entropy_before_bits is None or found.entropy_bits is None:
        return line
    bits = f"{found.entropy_before_bits:.2f} → {found.entropy_bits:.2f} bits"
    return f"{line} (the model's entropy: {bits})"


def _constrained(stages: tuple[StageRecord, ...]) -> StageRecord | None:
    """The grammar's stage, where it constrained."""
    return next((one for one in stages if one.name == "grammar" and "state" in one.figures), None)


def _say(line: str) -> None:
    click.echo(f"tokenloop: {line}", err=True)
