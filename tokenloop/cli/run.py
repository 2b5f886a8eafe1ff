"""``tokenloop run``: the session without a screen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from tokenloop.cli.given_sampler import GivenSampler
from tokenloop.cli.opening import load_model, open_session
from tokenloop.cli.options import model_argument, read_settings_file, runtime_options
from tokenloop.cli.prompt_options import Prompt, prompt_options
from tokenloop.cli.run_notices import say_how_it_ended, say_repetition, say_what_is_missing
from tokenloop.cli.sampler_options import sampler_options
from tokenloop.cli.sections import SectionedCommand
from tokenloop.errors import TokenloopError

if TYPE_CHECKING:
    from tokenloop.app.runtime_choice import RuntimeChoice
    from tokenloop.records import StepRecord
    from tokenloop.session import Session

SHOWN_IN_JSON, SHOWN_IN_TABLES = 40, 5


@click.command(cls=SectionedCommand, short_help="Run the loop without a screen.")
@model_argument
@prompt_options
@click.option(
    "--steps",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    metavar="N",
    help="How many tokens to add at most.",
)
@click.option("--ignore-eos", is_flag=True, help="Go on after a token that ends the text.")
@click.option(
    "--candidates",
    type=click.IntRange(min=1),
    metavar="K",
    help=f"Candidates that a step shows (default {SHOWN_IN_JSON} with --json, "
    f"{SHOWN_IN_TABLES} without). Never changes what can be drawn.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a step, a line each.")
@runtime_options
@sampler_options
def run(
    model: str | None,
    prompt: Prompt,
    steps: int,
    ignore_eos: bool,
    candidates: int | None,
    as_json: bool,
    sampler: GivenSampler,
    runtime: RuntimeChoice,
) -> int:
    """Run the loop without a screen: a table for each step, or JSON lines.

    Stops after N tokens or at a token that ends the text. Where the context is full before that,
    the exit code is 1. What is no step goes to stderr.
    """
    file = read_settings_file()
    settings, seed = sampler.settings(file), sampler.seed_over(file)
    loaded = load_model(model, runtime.over(file.runtime))
    with sampler.naming_its_file():
        session = open_session(loaded, prompt, settings, seed)
    session.show(candidates or (SHOWN_IN_JSON if as_json else SHOWN_IN_TABLES))
    records = _steps(session, steps, ignore_eos=ignore_eos)
    if as_json:
        from tokenloop.cli.json_lines import write_lines

        write_lines(records)
    else:
        _write_tables(session, records)
    return 0


def _steps(session: Session, most: int, *, ignore_eos: bool) -> Iterator[StepRecord]:
    """Step until enough, or until a token ends the text; what is to say of that goes to stderr.

    Raises:
        ContextFullError: the context is full before that.
    """
    repetition_said = False
    for made in range(1, most + 1):
        record = session.step()
        yield record
        repetition_said = repetition_said or say_repetition(session)
        if session.ended and not ignore_eos:
            say_how_it_ended(record, made)
            return
    say_what_is_missing(session, most)


def _write_tables(session: Session, records: Iterator[StepRecord]) -> None:
    from tokenloop.cli.paper import paper, safe_text
    from tokenloop.cli.step_table import prompt_line, step_table

    console = paper()
    read = session.snapshot().latency.last
    if read is not None:
        console.print(prompt_line(len(session.ids), read), end="\n\n")
    try:
        for record in records:
            console.print(step_table(record, session.settings))
    except TokenloopError:
        console.print(safe_text(session.text), soft_wrap=True)
        raise
    console.print(safe_text(session.text), soft_wrap=True)
