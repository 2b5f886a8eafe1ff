"""``tokenloop check``: the session's numbers against the same prefix computed afresh."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from tokenloop.cli.exits import FAILED
from tokenloop.cli.opening import load_model
from tokenloop.cli.options import model_argument, read_settings_file, runtime_options
from tokenloop.cli.param_types import TEXT
from tokenloop.cli.sections import SectionedCommand

if TYPE_CHECKING:
    from tokenloop.app.runtime_choice import RuntimeChoice

PROMPT = "The capital of Australia is"
TOLERANCE = 1e-3
"""The published tolerance of float32 on a logit (docs/precision.md)."""


@click.command(cls=SectionedCommand, short_help="Compare cached passes with a fresh one.")
@model_argument
@click.option("-p", "--prompt", type=TEXT, default=PROMPT, show_default=True, metavar="TEXT")
@click.option(
    "--steps",
    type=click.IntRange(min=0),
    default=20,
    show_default=True,
    metavar="N",
    help="How many tokens to add, one cached pass each, before comparing.",
)
@runtime_options
def check(model: str | None, prompt: str, steps: int, runtime: RuntimeChoice) -> int:
    """Step a prompt with the KV cache, then compute all of it afresh in float32 and compare.

    Exit code 1 when float32 passes differ by more than the published tolerance.
    """
    choice = runtime.over(read_settings_file().runtime)

    from tokenloop.app.words import arithmetic
    from tokenloop.session import Session

    session = Session(load_model(model, choice))
    session.open(session.encode(prompt))
    for _ in range(steps):
        if session.context_full:
            break
        session.step()
    exact = session.model.exact
    exactly = replace(choice, dtype="float32", precision="exact")
    record = session.check(None if exact else load_model(model, exactly))
    how = ", ".join(arithmetic(session.model))
    click.echo(f"{session.model.name}: {record.positions} positions in {how}")
    click.echo(f"largest |Δlogit|  {record.largest_logit_diff:.6f}  at {record.at.label}")
    click.echo(f"largest |Δp|      {record.largest_p_diff:.6f}")
    fate = "stays" if record.same_token else f"would be {record.fresh_chosen.label}"
    click.echo(f"the draw falls on {record.chosen.label}: computed afresh in float32 it {fate}")
    if exact and record.largest_logit_diff > TOLERANCE:
        click.echo(f"tokenloop: float32 should agree to {TOLERANCE:g}", err=True)
        return FAILED
    return 0
