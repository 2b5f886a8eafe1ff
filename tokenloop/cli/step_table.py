"""One step as a table for reading: what was chosen, from what, and what it cost."""

from __future__ import annotations

from rich import box
from rich.console import Group, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from tokenloop.records import Candidate, StepRecord

MODEL, SAMPLER, CUT = "blue", "yellow", "bright_black"
"""Blue is what the model says, amber what the sampler makes of it, grey what it cut."""

COLUMNS: tuple[tuple[str, JustifyMethod, int, str], ...] = (
    ("", "left", 1, ""),
    ("rank", "right", 6, ""),
    ("id", "right", 6, ""),
    ("token", "left", 16, ""),
    ("logit", "right", 8, ""),
    ("model", "right", 8, MODEL),
    ("sampler", "right", 8, SAMPLER),
    ("cut by", "left", 12, ""),
)
"""Heading, alignment, least width (so that the tables of a run line up) and colour."""


def step_table(record: StepRecord) -> RenderableType:
    """Lay out a step's headline, its candidates, its tail and its sampler in one block."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for heading, justify, width, style in COLUMNS:
        table.add_column(heading, justify=justify, min_width=width, style=style)
    rows, tail = list(record.candidates), record.tail
    count, p, final_p = tail.count, tail.p, tail.final_p
    if record.chosen.id not in {candidate.id for candidate in rows}:
        # Drawn from below the shown ones: it gets its row, and leaves the tail.
        rows.append(record.chosen)
        count, p = count - 1, p - record.chosen.p
        final_p = None if final_p is None else final_p - (record.chosen.final_p or 0.0)
    for candidate in rows:
        table.add_row(*_cells(candidate, chosen=candidate.id == record.token.id))
    table.add_row(
        *("", "", "", Text(f"… {count:,} more"), "", _percent(p), _percent(final_p)),
        Text(", ".join(f"{stage} {cut:,}" for stage, cut in tail.cut.items())),
        style=CUT,
    )
    return Group(_headline(record), table, _funnel(record), _cost(record), Text())


def _headline(record: StepRecord) -> Text:
    line = Text(f"step {record.step} · position {record.position} · ")
    line.append(record.token.label, style="bold reverse")
    line.append(f" {_how(record)}", style=SAMPLER)
    line.append(f" · model {record.entropy_bits:.2f} bits", style=MODEL)
    return line


def _how(record: StepRecord) -> str:
    draw = record.draw
    if draw.u is None or draw.low is None or draw.high is None:
        return draw.how
    rolled = f", attempt {draw.attempt}" if draw.attempt else ""
    return f"{draw.how} · u = {draw.u:.4f} in [{draw.low:.4f}, {draw.high:.4f}){rolled}"


def _cells(candidate: Candidate, *, chosen: bool) -> list[Text]:
    style = CUT if candidate.cut_by else "bold" if chosen else ""
    cut_by = candidate.cut_by or ""
    return [
        Text("▸" if chosen else " ", style=SAMPLER),
        Text(f"{candidate.rank:,}", style=style),
        Text(str(candidate.id), style=style),
        Text(candidate.label, style=style, overflow="fold"),
        Text(f"{candidate.logit:.4f}", style=style),
        Text(_percent(candidate.p)),
        Text("" if candidate.cut_by else _percent(candidate.final_p)),
        Text(cut_by, style=style),
    ]


def _funnel(record: StepRecord) -> Text:
    """The survivors along the chain; a stage that did nothing is left out."""
    line = Text(f"sampler: {record.vocab_size:,}", style=SAMPLER)
    for stage in record.stages:
        if stage.skipped is not None:
            continue
        settings = " ".join(
            f"{value:g}" if isinstance(value, float) else str(value)
            for value in stage.settings.values()
        )
        line.append(f" → {stage.name} {settings}: {stage.survivors:,}")
    if record.final_entropy_bits is not None:
        line.append(f" · {record.final_entropy_bits:.2f} bits")
    return line


def _cost(record: StepRecord) -> Text:
    cache, latency = record.cache, record.latency_ms
    line = Text(
        f"cache: {cache.positions:,} positions, {cache.bytes / 1024:,.1f} KiB "
        f"(kept {cache.kept:,}, computed {cache.computed:,})",
        style="magenta",
    )
    passed = latency.decode or latency.prefill
    line.append(f" · pass {passed:.1f} ms, sampler {latency.sample:.1f} ms", style="default")
    return line


def _percent(p: float | None) -> str:
    return "" if p is None else f"{max(p, 0.0) * 100:.2f} %"
