"""What the table through the stages tells in words: of a stage, and of a candidate."""

from __future__ import annotations

from rich.style import Style

from tokenloop.records import Candidate, Choice
from tokenloop_widgets.drawing.cells import safe
from tokenloop_widgets.drawing.draw import draw_words
from tokenloop_widgets.drawing.figures import bits, count, percent, stage_name
from tokenloop_widgets.drawing.stage_words import cut_figure, entropy_change, stage_setting
from tokenloop_widgets.drawing.through_layout import MODEL, Column
from tokenloop_widgets.palette import Palette

Items = list[tuple[str, Style]]

MOST_HEX = 40
"""Digits of bytes that are printed; a longer token is known by its id."""


def told_of_column(choice: Choice, column: Column, palette: Palette) -> Items:
    """What a stage did, or why it did nothing.

    Args:
        choice: whose chain.
        column: the model's, a stage's or the final one.
        palette: the colours.
    """
    soft, amber = palette.on(palette.soft), palette.on(palette.sampler, bold=True)
    stage = column.record
    if column.stage == MODEL:
        given = choice.draw.how == "given"
        why = "given by you: no sampler looked at it" if given else ""
        facts = (f"{count(choice.vocab_size)} candidates", bits(choice.entropy_bits), why)
        return [("model", palette.on(palette.model, bold=True)), *_plain(soft, *facts)]
    if stage is None:
        return [(column.name, amber), *draw_words(choice, palette)]
    more = _plain(soft, stage.note, stage.definition)
    if stage.skipped is not None:
        name = (column.name, palette.on(palette.soft, bold=True))
        return [name, *_plain(soft, stage.skipped), *more]
    flow = ""
    if stage.survivors != stage.survivors_before:
        flow = f"{count(stage.survivors_before)} → {count(stage.survivors)}"
    cut = cut_figure(stage)
    facts = (flow, f"{cut} of the mass" if cut else "", entropy_change(stage))
    return [(column.name, amber), (safe(stage_setting(stage)), amber), *_plain(soft, *facts), *more]


def told_of_candidate(choice: Choice, candidate: Candidate, palette: Palette) -> Items:
    """A candidate's identity and fate.

    Args:
        choice: whose candidate.
        candidate: any of the vocabulary.
        palette: the colours.
    """
    soft, amber = palette.on(palette.soft), palette.on(palette.sampler)
    items: Items = [
        (safe(candidate.label), palette.on(palette.text, bold=True)),
        (f"id {candidate.id}", soft),
        (f"rank {count(candidate.rank)}", soft),
        (f"model {percent(candidate.p)}", palette.on(palette.model)),
    ]
    if candidate.cut_by is not None:
        items.append((f"× cut by {stage_name(safe(candidate.cut_by))}", soft))
    elif candidate.final_p is not None:
        items.append((f"final {percent(candidate.final_p)}", amber))
    if candidate.id == choice.chosen.id and choice.draw.how != "given":
        items.append(("▸ the draw falls on it", amber))
    raw = candidate.bytes_hex
    return [*items, *_plain(soft, f"logit {candidate.logit:.2f}", _spaced(raw))]


def _spaced(raw: str) -> str:
    pairs = " ".join(raw[at : at + 2] for at in range(0, len(raw), 2))
    return f"bytes {pairs}" if 0 < len(raw) <= MOST_HEX else ""


def _plain(style: Style, *texts: str | None) -> Items:
    return [(safe(text), style) for text in texts if text]
