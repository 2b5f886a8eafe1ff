"""``tokenloop run``: the session without a screen."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from tokenloop.cli.bring import model_here
from tokenloop.cli.options import (
    TEXT,
    model_argument,
    read_settings_file,
    runtime_options,
    sampler_options,
    sampler_settings,
    seed_or_default,
)
from tokenloop.errors import TokenloopError
from tokenloop.labels import clean

if TYPE_CHECKING:
    from tokenloop.records import StepRecord
    from tokenloop.session import Session

MOST_STDIN_BYTES = 8 << 20
IDS = re.compile(r"\s*\d{1,18}((\s*,\s*|\s+)\d{1,18})*\s*", re.ASCII)
SHOWN_IN_JSON, SHOWN_IN_TABLES = 40, 5


def _token_ids(_: click.Context, __: click.Parameter, value: str | None) -> list[int] | None:
    if value is None:
        return None
    if not IDS.fullmatch(value):
        raise click.BadParameter(f"{value!r} is not a list of token ids such as 504,3575,282")
    return [int(part) for part in value.replace(",", " ").split()]


@click.command(short_help="Run the loop without a screen.")
@model_argument
@click.option(
    "-p",
    "--prompt",
    type=TEXT,
    metavar="TEXT",
    help="The text to go on from; - reads stdin.",
)
@click.option(
    "--ids", callback=_token_ids, metavar="1,2,3", help="The prompt as token ids instead."
)
@click.option(
    "--specials", is_flag=True, help="Read <|…|> in the prompt as special tokens, not as text."
)
@click.option(
    "--steps",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    metavar="N",
    help="How many tokens to add at most.",
)
@click.option("--ignore-eos", is_flag=True, help="Go on after a token that ends the text.")
@sampler_options
@click.option(
    "--candidates",
    type=click.IntRange(min=1),
    metavar="K",
    help=f"Candidates that a step shows (default {SHOWN_IN_JSON} with --json, "
    f"{SHOWN_IN_TABLES} without). Never changes what can be drawn.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a step, a line each.")
@runtime_options
def run(
    model: str | None,
    prompt: str | None,
    ids: list[int] | None,
    specials: bool,
    steps: int,
    ignore_eos: bool,
    seed: int | None,
    candidates: int | None,
    as_json: bool,
    device: str | None,
    dtype: str | None,
    precision: str | None,
    threads: int | None,
    **sampler: Any,
) -> int:
    """Run the loop without a screen: a table for each step, or JSON lines.

    Stops after N tokens or at a token that ends the text. Where the context is full before that,
    the exit code is 1. What is no step goes to stderr.
    """
    text = _prompt(prompt, ids)
    file = read_settings_file()
    settings = sampler_settings(file.sampler, **sampler)
    seed = seed_or_default(seed, file.seed)

    from tokenloop.cli.progress import count_progress
    from tokenloop.session import Session
    from tokenloop_models import load

    source = model_here(model)
    with count_progress("loading") as progress:
        runtime = load(
            source,
            device=device or file.device or "auto",
            dtype=dtype or file.dtype or "auto",
            precision=precision or file.precision or "exact",
            threads=threads or file.threads,
            progress=progress,
        )
    for notice in (*runtime.tokenizer.notices, *runtime.info.notices):
        click.echo(f"tokenloop: warning: {clean(notice)}", err=True)
    # The prompt's own candidates are not printed: one of each, whatever its length, is enough.
    session = Session(runtime, settings=settings, seed=seed, shown=1)
    with count_progress("prompt") as progress:
        session.open(
            ids if ids is not None else session.encode(text, specials=specials),
            progress=lambda done, total: progress("prefill", done, total),
        )
    session.show(candidates or (SHOWN_IN_JSON if as_json else SHOWN_IN_TABLES))
    records = _steps(session, steps, ignore_eos=ignore_eos)
    if as_json:
        _write_lines(records)
    else:
        _write_tables(session, records)
    return 0


def _prompt(prompt: str | None, ids: list[int] | None) -> str:
    """The prompt's text, empty where ids were given.

    Raises:
        click.UsageError: neither or both were given, or stdin is no text of a sensible size.
    """
    if (prompt is None) == (ids is None):
        raise click.UsageError("give the prompt as -p TEXT or as --ids 1,2,3")
    if prompt != "-":
        return prompt or ""
    raw = sys.stdin.buffer.read(MOST_STDIN_BYTES + 1)
    if len(raw) > MOST_STDIN_BYTES:
        raise click.UsageError(f"stdin: more than {MOST_STDIN_BYTES:,} bytes is no prompt")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise click.UsageError(f"stdin: is not UTF-8 at byte {error.start:,}") from None


def _steps(session: Session, most: int, *, ignore_eos: bool) -> Iterator[StepRecord]:
    """Step until enough, or until a token ends the text: then say so on stderr.

    Raises:
        ContextFullError: the context is full before that.
    """
    for number in range(1, most + 1):
        record = session.step()
        yield record
        if session.ended and not ignore_eos:
            steps = "1 step" if number == 1 else f"{number:,} steps"
            line = f"tokenloop: {record.token.label} ended the text after {steps}"
            click.echo(f"{line} (--ignore-eos goes on)", err=True)
            return


def _write_lines(records: Iterator[StepRecord]) -> None:
    import msgspec

    encoder = msgspec.json.Encoder()
    for record in records:
        sys.stdout.buffer.write(encoder.encode(record) + b"\n")
        sys.stdout.buffer.flush()  # a reader sees each step when it happens


def _write_tables(session: Session, records: Iterator[StepRecord]) -> None:
    from tokenloop.cli.paper import paper, safe_text
    from tokenloop.cli.step_table import prompt_line, step_table

    console = paper()
    read = session.snapshot().latency.last
    if read is not None:
        console.print(prompt_line(len(session.ids), read), end="\n\n")
    try:
        for record in records:
            console.print(step_table(record))
    except TokenloopError:
        console.print(safe_text(session.text), soft_wrap=True)
        raise
    console.print(safe_text(session.text), soft_wrap=True)
