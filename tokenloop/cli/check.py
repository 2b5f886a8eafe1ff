"""``tokenloop check``: the session's numbers against the same prefix computed afresh."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tokenloop.cli.bring import model_here
from tokenloop.cli.exits import FAILED
from tokenloop.cli.options import TEXT, model_argument, read_settings_file, runtime_options

if TYPE_CHECKING:
    from tokenloop.records import ModelInfo

PROMPT = "The capital of Australia is"
TOLERANCE = 1e-3
"""The published tolerance of float32 on a logit (docs/precision.md)."""


@click.command(short_help="Compare cached passes with a fresh one.")
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
def check(
    model: str | None,
    prompt: str,
    steps: int,
    device: str | None,
    dtype: str | None,
    precision: str | None,
    threads: int | None,
) -> int:
    """Step a prompt with the KV cache, then compute all of it afresh in float32 and compare.

    Exit code 1 when float32 passes differ by more than the published tolerance.
    """
    file = read_settings_file()

    from tokenloop.cli.progress import count_progress
    from tokenloop.session import Session
    from tokenloop_models import load

    source = model_here(model)
    device = device or file.device or "auto"
    threads = threads or file.threads
    with count_progress("loading") as progress:
        runtime = load(
            source,
            device=device,
            dtype=dtype or file.dtype or "auto",
            precision=precision or file.precision or "exact",
            threads=threads,
            progress=progress,
        )
    session = Session(runtime)
    session.open(session.encode(prompt))
    for _ in range(steps):
        if session.context_full:
            break
        session.step()
    exact = session.model.exact
    reference = None if exact else load(source, device=device, dtype="float32", threads=threads)
    record = session.check(reference)
    click.echo(f"{session.model.name}: {record.positions} positions in {_how(session.model)}")
    click.echo(f"largest |Δlogit|  {record.largest_logit_diff:.6f}  at {record.at.label}")
    click.echo(f"largest |Δp|      {record.largest_p_diff:.6f}")
    fate = "stays" if record.same_token else f"would be {record.fresh_chosen.label}"
    click.echo(f"the draw falls on {record.chosen.label}: computed afresh in float32 it {fate}")
    if exact and record.largest_logit_diff > TOLERANCE:
        click.echo(f"tokenloop: float32 should agree to {TOLERANCE:g}", err=True)
        return FAILED
    return 0


def _how(model: ModelInfo) -> str:
    return f"{model.dtype}, packed weights" if model.precision == "fast" else model.dtype
