"""One step as a table for reading: what was chosen, from what, and what it cost."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from tokenloop.cli.figures import CUT, MEMORY, MODEL, SAMPLER, Column, percent, table_of
from tokenloop.cli.stage_lines import headed, stage_lines
from tokenloop.counting import counted
from tokenloop.records import Candidate, Draw, Latency, StepRecord, Token
from tokenloop.sampling.settings import SamplerSettings
from tokenloop_models.sizes import memory_size

COLUMNS: tuple[Column, ...] = (
    ("", "left", 1, ""),
    ("rank", "right", 6, ""),
    ("id", "right", 6, ""),
    ("token", "left", 16, ""),
    ("logit", "right", 8, ""),
    ("model", "right", 8, MODEL),
    ("sampler", "right", 8, SAMPLER),
    ("cut by", "left", 11, ""),
)


def step_table(record: StepRecord, settings: SamplerSettings) -> RenderableType:
    """Lay out a step's headline, its candidates and tail, and what it took, for 80 columns.

    Args:
        record: the step.
        settings: the sampler's.
    """
    table = table_of(COLUMNS)
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
    table.add_row("", "", "", rest, "", percent(p), percent(final_p), style=CUT)
    head = Text(f"step {record.step} · position {record.position} · ")
    headline = head + chosen_words(record.token, record.draw)
    return Group(headline, table, *_summary(record, settings), Text())


def prompt_line(tokens: int, read: Latency) -> Text:
    """Say what reading the prompt took.

    Args:
        tokens: of the prompt.
        read: the pass that read them.
    """
    kind, took = ("prefill", read.prefill) if read.positions > 1 else ("decode", read.decode)
    line = f"prompt · {counted(tokens, 'token')} · {kind} {took:.1f} ms"
    return Text(f"{line}, {took / read.positions:.1f} ms a token" if read.positions > 1 else line)


def chosen_words(token: Token, draw: Draw) -> Text:
    """The token that a draw falls on, and how: ``u`` and its interval where it was drawn."""
    line = Text()
    line.append(token.label, style="bold reverse")
    line.append(f" {draw.how}", style=SAMPLER)
    if draw.u is not None and draw.low is not None and draw.high is not None:
        interval = f"[{draw.low:.4f}, {draw.high:.4f})"
        line.append(f": u = {draw.u:.4f} in {interval}", style=SAMPLER)
    return line


def _summary(record: StepRecord, settings: SamplerSettings) -> list[Text]:
    cache, latency = record.cache, record.latency_ms
    bits = f"{record.entropy_bits:.2f} bits"
    if record.final_entropy_bits is not None:
        bits += f", {record.final_entropy_bits:.2f} after the sampler"
    passed = latency.decode or latency.prefill
    return [
        Text(f"model    {record.vocab_size:,} candidates, {bits}", MODEL),
        *headed("sampler", stage_lines(record.stages, settings)),
        Text(
            f"cache    {cache.positions:,} positions, {memory_size(cache.bytes)}: "
            f"kept {cache.kept:,}, computed {cache.computed:,}",
            MEMORY,
        ),
        Text(f"time     pass {passed:.1f} ms, sampler {latency.sample:.1f} ms"),
    ]


def _cells(candidate: Candidate, *, chosen: bool) -> list[Text]:
    style = CUT if candidate.cut_by else "bold" if chosen else ""
    cut_by = candidate.cut_by or ""
    return [
        Text("▸" if chosen else " ", style=SAMPLER),
        Text(f"{candidate.rank:,}", style=style),
        Text(str(candidate.id), style=style),
        Text(candidate.label, style=style, overflow="fold"),
        Text(f"{candidate.logit:.4f}", style=style),
        Text(percent(candidate.p)),
        Text("" if candidate.cut_by else percent(candidate.final_p)),
        Text(cut_by, style=style),
    ]
