"""One step as a table for reading: what was chosen, from what, and what it cost."""

from __future__ import annotations

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tokenloop.records import Candidate, StepRecord

MODEL, SAMPLER, CUT = "blue", "yellow", "bright_black"
"""Blue is what the model says, amber what the sampler makes of it, grey what it cut."""


def step_table(record: StepRecord) -> RenderableType:
    """Lay out a step's headline, its candidates, its tail and its sampler in one block."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    table.add_column("", width=1)
    table.add_column("rank", justify="right")
    table.add_column("id", justify="right")
    table.add_column("token", min_width=12)
    table.add_column("logit", justify="right")
    table.add_column("model", justify="right", style=MODEL)
    table.add_column("sampler", justify="right", style=SAMPLER)
    table.add_column("cut by")
    rows = list(record.candidates)
    if record.chosen.id not in {candidate.id for candidate in rows}:
        rows.append(record.chosen)  # drawn from below the shown ones: it still gets its row
    for candidate in rows:
        table.add_row(*_cells(candidate, chosen=candidate.id == record.token.id))
    tail = record.tail
    table.add_row(
        *("", "", "", Text(f"… {tail.count:,} more"), "", _percent(tail.p), _percent(tail.final_p)),
        Text(", ".join(f"{stage} {count:,}" for stage, count in tail.cut.items())),
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
    return "" if p is None else f"{p * 100:.2f} %"
