"""One step as a table for reading: what was chosen, from what, and what it cost."""

from __future__ import annotations

from rich import box
from rich.console import Group, JustifyMethod, RenderableType
from rich.table import Table
from rich.text import Text

from tokenloop.records import Candidate, Latency, StageRecord, StepRecord
from tokenloop_models.sizes import memory_size

MODEL, SAMPLER, MEMORY, CUT = "blue", "yellow", "magenta", "bright_black"
"""What the model says, what the sampler makes of it, the cache, and what was cut."""

COLUMNS: tuple[tuple[str, JustifyMethod, int, str], ...] = (
    ("", "left", 1, ""),
    ("rank", "right", 6, ""),
    ("id", "right", 6, ""),
    ("token", "left", 16, ""),
    ("logit", "right", 8, ""),
    ("model", "right", 8, MODEL),
    ("sampler", "right", 8, SAMPLER),
    ("cut by", "left", 11, ""),
)
"""Heading, alignment, least width (so that the tables of a run line up) and colour."""


def step_table(record: StepRecord) -> RenderableType:
    """Lay out a step's headline, its candidates and tail, and what it took, for 80 columns."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
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
    rest = Text(f"… {count:,} more")
    table.add_row("", "", "", rest, "", _percent(p), _percent(final_p), style=CUT)
    return Group(_headline(record), table, *_summary(record), Text())


def prompt_line(tokens: int, read: Latency) -> Text:
    """Say what reading the prompt took.

    Args:
        tokens: of the prompt.
        read: the pass that read them.
    """
    kind, took = ("prefill", read.prefill) if read.positions > 1 else ("decode", read.decode)
    line = f"prompt · {tokens:,} token{'' if tokens == 1 else 's'} · {kind} {took:.1f} ms"
    return Text(f"{line}, {took / read.positions:.1f} ms a token" if read.positions > 1 else line)


def _headline(record: StepRecord) -> Text:
    line = Text(f"step {record.step} · position {record.position} · ")
    line.append(record.token.label, style="bold reverse")
    draw = record.draw
    line.append(f" {draw.how}", style=SAMPLER)
    if draw.u is not None and draw.low is not None and draw.high is not None:
        interval = f"[{draw.low:.4f}, {draw.high:.4f})"
        line.append(f": u = {draw.u:.4f} in {interval}", style=SAMPLER)
    return line


def _summary(record: StepRecord) -> list[Text]:
    cache, latency = record.cache, record.latency_ms
    # A stage that did nothing is left out here; the JSON has it with its reason.
    stages = [_stage(stage) for stage in record.stages if stage.skipped is None]
    bits = f"{record.entropy_bits:.2f} bits"
    if record.final_entropy_bits is not None:
        bits += f", {record.final_entropy_bits:.2f} after the sampler"
    passed = latency.decode or latency.prefill
    return [
        Text(f"model    {record.vocab_size:,} candidates, {bits}", MODEL),
        Text(f"sampler  {' · '.join(stages)}", SAMPLER),
        Text(
            f"cache    {cache.positions:,} positions, {memory_size(cache.bytes)}: "
            f"kept {cache.kept:,}, computed {cache.computed:,}",
            MEMORY,
        ),
        Text(f"time     pass {passed:.1f} ms, sampler {latency.sample:.1f} ms"),
    ]


def _stage(stage: StageRecord) -> str:
    values = (f"{v:g}" if isinstance(v, float) else str(v) for v in stage.settings.values())
    return f"{stage.name} {' '.join(values)} → {stage.survivors:,}"


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


def _percent(p: float | None) -> str:
    return "" if p is None else f"{max(p, 0.0) * 100:.2f} %"
