"""Many draws from one distribution, as a table for reading."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tokenloop.cli.figures import CUT, MODEL, SAMPLER, Column, percent, table_of
from tokenloop.cli.sample_record import SampleRecord
from tokenloop.cli.stage_lines import headed, stage_lines
from tokenloop.cli.step_table import chosen_words
from tokenloop.counting import counted
from tokenloop.labels import visible
from tokenloop.records import Candidate, Choice, DrawsRecord, FoundTokens, StageRecord
from tokenloop.sampling.settings import SamplerSettings

FIRST: tuple[Column, ...] = (
    ("", "left", 1, ""),
    ("rank", "right", 4, ""),
    ("id", "right", 5, ""),
    ("token", "left", 12, ""),
    ("model", "right", 7, MODEL),
)
LAST: tuple[Column, ...] = (("sampler", "right", 8, SAMPLER), ("cut by", "left", 11, ""))
COUNTS: tuple[Column, ...] = (("drawn", "right", 7, ""), ("expected", "right", 9, ""))
STAGE_CELLS = 8
"""Least columns of a stage."""
LONG_LABEL = 8
"""Columns that a label may take beyond its least ones."""

DOUBTFUL = 0.001
"""A p-value below this is not put down to chance."""


def sample_table(
    record: SampleRecord, settings: SamplerSettings, seen: dict[int, int], width: int
) -> RenderableType:
    """Lay out the candidates with their counts, the stages, the draws and what was searched for.

    Args:
        record: what was sampled.
        settings: the sampler's.
        seen: how often each token was drawn, by id; one that isn't there never was.
        width: columns that there are for it.
    """
    counts = None if record.draws is None else seen
    columns = COUNTS if counts is not None else ()
    stages = _stages_that_fit(record.stages, width, FIRST + LAST + columns)
    table = _empty(stages, columns)
    rows = list(record.candidates)
    if record.chosen.id not in {candidate.id for candidate in rows}:
        rows.append(record.chosen)
    for candidate in rows:
        _add(table, candidate, record, stages, counts)
    table.add_row(*_rest(record, rows, stages, counts), style=CUT)
    head = Text(f"position {record.position} · {record.vocab_size:,} candidates · next ")
    lines = headed("sampler", stage_lines(record.stages, settings))
    if record.draws is not None:
        lines += headed("draws", _draws_lines(record.draws))
    return Group(
        head + chosen_words(record.chosen, record.draw),
        table,
        Text(
            f"model    {record.entropy_bits:.2f} bits, "
            f"{record.final_entropy_bits or 0.0:.2f} after the sampler",
            MODEL,
        ),
        *lines,
        *(line for found in record.found for line in _found(found, record, width)),
        Text(),
    )


def _found(found: FoundTokens, record: SampleRecord, width: int) -> list[RenderableType]:
    """What a search found: the fate of each token at every stage."""
    stages = _stages_that_fit(record.stages, width, FIRST + LAST)
    title = f"{visible(found.query)} as {found.kind}: {counted(found.total, 'token')}"
    if found.without_logit:
        title += f", {found.without_logit:,} without a logit"
    table = _empty(stages, ())
    for candidate in found.candidates:
        _add(table, candidate, record, stages, None)
    lines: list[RenderableType] = [Text(), Text(title, "bold")]
    if found.candidates:
        lines.append(table)
    more = found.total - found.without_logit - len(found.candidates)
    if more > 0:
        lines.append(Text(f"… {more:,} more", CUT))
    return lines


def _stages_that_fit(
    stages: Sequence[StageRecord], width: int, columns: tuple[Column, ...]
) -> dict[str, int]:
    """The acting stages but the last, whose outcome is the sampler's; none where room lacks.

    Returns:
        The place of each in the chain, by name.
    """
    acting = {stage.name: place for place, stage in enumerate(stages) if stage.skipped is None}
    if acting:
        acting.popitem()
    taken = LONG_LABEL + sum(max(least, len(heading)) + 1 for heading, _, least, _ in columns)
    wanted = sum(max(STAGE_CELLS, len(name)) + 1 for name in acting)
    return acting if taken + wanted <= width else {}


def _empty(stages: dict[str, int], columns: tuple[Column, ...]) -> Table:
    between: tuple[Column, ...] = tuple((name, "right", STAGE_CELLS, SAMPLER) for name in stages)
    return table_of((*FIRST, *between, *LAST, *columns))


def _add(
    table: Table,
    candidate: Candidate,
    record: SampleRecord,
    stages: dict[str, int],
    counts: dict[int, int] | None,
) -> None:
    chosen = candidate.id == record.chosen.id
    style = CUT if candidate.cut_by else "bold" if chosen else ""
    cells = [
        Text("▸" if chosen else " ", style=SAMPLER),
        Text(f"{candidate.rank:,}", style=style),
        Text(str(candidate.id), style=style),
        Text(candidate.label, style=style, overflow="fold"),
        Text(percent(candidate.p)),
        *(Text(_after(candidate, record, place)) for place in stages.values()),
        Text("" if candidate.cut_by else percent(candidate.final_p)),
        Text(candidate.cut_by or "", style=style),
    ]
    if counts is not None and record.draws is not None:
        expected = (candidate.final_p or 0.0) * record.draws.draws
        cells += [Text(f"{counts.get(candidate.id, 0):,}", style=style), Text(_expected(expected))]
    table.add_row(*cells)


def _after(candidate: Candidate, choice: Choice, place: int) -> str:
    """Its probability after a stage: a cross where it was cut, nothing from there on."""
    if candidate.cut_by is None:
        return percent(candidate.after[place])
    cut = [stage.name for stage in choice.stages].index(candidate.cut_by)
    return percent(candidate.after[place]) if place < cut else "✗" if place == cut else ""


def _rest(
    record: SampleRecord,
    rows: list[Candidate],
    stages: dict[str, int],
    counts: dict[int, int] | None,
) -> list[Text]:
    """The row of all candidates that have none."""
    cells = ["", "", "", f"… {record.vocab_size - len(rows):,} more"]
    cells.append(percent(_without(candidate.p for candidate in rows)))
    cells += [
        percent(_without(candidate.after[place] for candidate in rows)) for place in stages.values()
    ]
    final_p = _without(candidate.final_p or 0.0 for candidate in rows)
    cells += [percent(final_p), ""]
    if counts is not None and record.draws is not None:
        shown = sum(counts.get(candidate.id, 0) for candidate in rows)
        draws = record.draws.draws
        cells += [f"{draws - shown:,}", _expected(final_p * draws)]
    return [Text(cell) for cell in cells]


def _without(probabilities: Iterable[float]) -> float:
    return max(0.0, 1.0 - sum(probabilities))


def _expected(count: float) -> str:
    return f"{count:,.1f}"


def _draws_lines(draws: DrawsRecord) -> list[Text]:
    took = f"{counted(draws.draws, 'draw')} with seed {draws.seed} in {draws.draw_ms:.1f} ms"
    if draws.chi_square is None or draws.p_value is None:
        why = "one token has all the probability" if draws.certain else "too few for these odds"
        return [Text(f"{took}: {why}, nothing to test")]
    says = "the draws do not follow the distribution"
    if draws.p_value >= DOUBTFUL:
        share = f"{draws.p_value * 100:.3g} %"
        says = f"where draws follow it, {share} of samples differ at least so much"
    freedom = f"{counted(draws.degrees, 'degree')} of freedom"
    test = f"χ² = {draws.chi_square:.2f}, {freedom}"
    return [Text(took), Text(f"{test}, p = {draws.p_value:.3f}: {says}")]
