"""``tokenloop sample``: one distribution, looked at for long."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tokenloop.cli.given_sampler import GivenSampler, preset_named
from tokenloop.cli.opening import load_model, open_session
from tokenloop.cli.options import misuse, model_argument, read_settings_file, runtime_options
from tokenloop.cli.param_types import TEXT, NamesType
from tokenloop.cli.prompt_options import Prompt, prompt_options
from tokenloop.cli.sampler_options import known_presets, sampler_options
from tokenloop.cli.sections import SectionedCommand

if TYPE_CHECKING:
    from tokenloop.app.runtime_choice import RuntimeChoice
    from tokenloop.app.settings_file import FileSettings
    from tokenloop.cli.sample_record import SampleRecord
    from tokenloop.sampling.settings import SamplerSettings
    from tokenloop.session import Session

DRAWS, MOST_DRAWS = 10_000, 1_000_000
SHOWN_IN_JSON, SHOWN_IN_TABLES = 40, 10

Named = tuple[str, "SamplerSettings"]


@click.command(
    cls=SectionedCommand, short_help="Draw many times from one distribution, or compare two."
)
@model_argument
@prompt_options
@click.option(
    "--draws",
    type=click.IntRange(min=1, max=MOST_DRAWS),
    metavar="N",
    help=f"How many draws (default {DRAWS:,}).",
)
@click.option(
    "--token",
    "queries",
    type=TEXT,
    multiple=True,
    metavar="QUERY",
    help="Show what becomes of a token at each stage: a text (also inside of longer ones), "
    "#123 (an id) or 0x2041 (bytes). May be given more than once.",
)
@click.option(
    "--compare",
    type=NamesType(known_presets),
    metavar="A,B",
    help="Compare two presets on the same logits instead; settings given here go on top of both.",
)
@click.option(
    "--candidates",
    type=click.IntRange(min=1),
    metavar="K",
    help=f"Candidates to show (default {SHOWN_IN_JSON} with --json, {SHOWN_IN_TABLES} without).",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on one line.")
@runtime_options
@sampler_options
def sample(
    model: str | None,
    prompt: Prompt,
    draws: int | None,
    queries: tuple[str, ...],
    compare: tuple[str, ...] | None,
    candidates: int | None,
    as_json: bool,
    runtime: RuntimeChoice,
    sampler: GivenSampler,
) -> int:
    """Read a prompt in one pass, and look at the distribution of the next token.

    Prints what each stage of the sampler makes of it, and N draws against it with a χ² test of
    whether they follow it. No further pass runs, whatever the number of draws.
    """
    file = read_settings_file()
    shown = candidates or (SHOWN_IN_JSON if as_json else SHOWN_IN_TABLES)
    sides = None if compare is None else _sides(compare, sampler, file, draws, queries)
    settings = sampler.settings(file) if sides is None else sides[0][1]
    seed = sampler.seed_over(file)
    loaded = load_model(model, runtime.over(file.runtime))
    with sampler.naming_its_file():
        session = open_session(loaded, prompt, settings, seed)
    session.show(shown)
    if sides is not None:
        _compare(session, *sides, shown=shown, as_json=as_json)
    else:
        _draw(session, draws, queries, shown=shown, as_json=as_json)
    return 0


def _sides(
    names: tuple[str, ...],
    sampler: GivenSampler,
    file: FileSettings,
    draws: int | None,
    queries: tuple[str, ...],
) -> tuple[Named, Named]:
    """Both sides of a comparison: presets, with what else was given on top.

    Raises:
        click.UsageError: they are not two presets, or an option is given that has no place here.
    """
    if draws is not None or queries or sampler.preset is not None:
        raise misuse("--compare goes with no --draws, --token or --preset")
    if len(names) != 2 or names[0] == names[1]:
        raise misuse("--compare takes two presets: --compare llamacpp,transformers")
    left, right = ((name, sampler.over(preset_named(name, file))) for name in names)
    return left, right


def _draw(
    session: Session, draws: int | None, queries: tuple[str, ...], *, shown: int, as_json: bool
) -> None:
    """Draw, search, print.

    Raises:
        SessionError: a number of draws was asked for where greedy draws nothing.
    """
    from tokenloop.cli.json_lines import write_lines
    from tokenloop.cli.sample_record import SampleRecord

    held = session.held
    nothing_drawn = draws is None and held.draw.how == "greedy"
    # The table needs the count of every candidate that it shows, wherever the stages put it.
    many = shown if as_json else held.stages[-1].survivors
    drawn = None if nothing_drawn else session.draws(draws or DRAWS, shown=many)
    record = SampleRecord(
        **{name: getattr(held, name) for name in held.__struct_fields__},
        draws=drawn,
        found=tuple(session.find(query, shown=shown) for query in queries),
        latency_ms=session.snapshot().latency.last,
    )
    if as_json:
        write_lines([record])
    else:
        _print_sample(record, session)


def _print_sample(record: SampleRecord, session: Session) -> None:
    from tokenloop.cli.paper import paper
    from tokenloop.cli.sample_table import sample_table
    from tokenloop.cli.step_table import prompt_line

    console = paper()
    seen = {} if record.draws is None else {one.id: one.count for one in record.draws.counts}
    if record.latency_ms is not None:
        console.print(prompt_line(len(session.ids), record.latency_ms), end="\n\n")
    console.print(sample_table(record, session.settings, seen, console.width))


def _compare(session: Session, left: Named, right: Named, *, shown: int, as_json: bool) -> None:
    comparison = session.compare(left, right, shown=shown)
    if as_json:
        from tokenloop.cli.json_lines import write_lines

        write_lines([comparison])
        return
    from tokenloop.cli.comparison_table import comparison_table
    from tokenloop.cli.paper import paper

    paper().print(comparison_table(comparison, left[1], right[1]))
