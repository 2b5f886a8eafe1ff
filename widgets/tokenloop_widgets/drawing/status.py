"""The top line: what runs, with which seed and order, and whether it is at rest."""

from __future__ import annotations

from dataclasses import dataclass

from rich.style import Style
from textual.strip import Strip

from tokenloop.records import ModelInfo, Repetition
from tokenloop_widgets.drawing.bars import bar
from tokenloop_widgets.drawing.cells import Line, first_fitting, safe, width_of
from tokenloop_widgets.drawing.figures import count
from tokenloop_widgets.palette import Palette

ORDER_NAMES = {"llamacpp": "llama.cpp order", "transformers": "transformers order"}
PROGRESS_WIDTH = 10
GAP = 2


@dataclass(frozen=True)
class Status:
    """What the line says.

    Attributes:
        model: what is loaded, or ``None``.
        seed, order: the sampler's, or ``None`` before there is a session.
        working: what is being done ("step", "prefill", "load"), or ``None`` at rest.
        done, total: its progress; ``total`` 0 where not known.
        unit: of the progress ("tokens").
        repetition: that the end of the text repeats itself, or ``None``.
    """

    model: ModelInfo | None = None
    seed: int | None = None
    order: str | None = None
    working: str | None = None
    done: int = 0
    total: int = 0
    unit: str = ""
    repetition: Repetition | None = None


def status_strip(status: Status, width: int, palette: Palette) -> Strip:
    """Draw the line; items that don't fit are left out whole, the least telling first."""
    soft = palette.on(palette.soft)
    line = Line(width, soft)
    badge = palette.on(palette.ground, bold=True, background=palette.sampler)
    state = _state(status, palette)
    need = sum(width_of(text) for text, _ in state)
    right: list[tuple[str, Style]] = []
    left: list[tuple[str, Style]] = [(" tokenloop ", badge)]
    room = width - need - width_of(left[0][0]) - GAP
    notice = first_fitting([f" {way} " for way in repetition_words(status.repetition)], room)
    if notice:
        left.append((notice, palette.on(palette.ground, bold=True, background=palette.text)))
        room -= width_of(notice) + GAP
    for side, text, style in _items(status, palette):
        cost = width_of(safe(text)) + GAP
        if cost <= room:
            (left if side == "left" else right).append((text, style))
            room -= cost
    if room < 0:
        left = []
    for number, (text, style) in enumerate(left):
        line.skip(GAP if number else 0).add(text, style)
    end = width - need - sum(width_of(safe(text)) + GAP for text, _ in right)
    line.to(max(line.at, end))
    for text, style in right:
        line.add(text, style).skip(GAP)
    for text, style in state:
        line.add(text, style)
    return line.strip()


def repetition_words(repetition: Repetition | None) -> list[str]:
    """What repeats, the fullest way to say it first; nothing where nothing does."""
    if repetition is None:
        return []
    what = f"{count(repetition.period)} token{'s' if repetition.period != 1 else ''}"
    times = f"{count(repetition.times)} times"
    said = f"↻ repeats {what}, {times}"
    ways = [said, f"↻ {what}, {times}", f"↻ ×{count(repetition.times)}"]
    before, now = repetition.entropy_before_bits, repetition.entropy_bits
    if before is not None and now is not None:
        fall = f"{before:.1f} → {now:.1f} bits"
        ways = [f"{said} · entropy {fall}", f"{said} · {fall}", *ways]
    return ways


def _items(status: Status, palette: Palette) -> list[tuple[str, str, Style]]:
    """(side, text, style), the most telling first; each side keeps this order."""
    soft = palette.on(palette.soft)
    items: list[tuple[str, str, Style]] = []
    model = status.model
    if model is not None:
        items.append(("left", model.name, palette.on(palette.text, bold=True)))
        runs = f"{model.device} · {model.dtype}"
        packed = " · packed weights" if model.precision == "fast" else ""
        items.append(("left", runs + packed, soft))
    if status.seed is not None:
        items.append(("right", f"seed {status.seed}", soft))
    if status.order is not None:
        items.append(("right", ORDER_NAMES.get(status.order, status.order), soft))
    if model is not None:
        threads = f"{model.threads} thread{'s' if model.threads != 1 else ''}"
        items.append(("left", threads, soft))
        if model.quantisation is not None:
            items.append(("left", f"{model.quantisation} file", soft))
    return items


def _state(status: Status, palette: Palette) -> list[tuple[str, Style]]:
    if status.working is None:
        return [("● ready ", palette.on(palette.ready, bold=True))]
    amber = palette.on(palette.text, bold=True)
    if status.total <= 0:
        return [(f"◐ {status.working} ", amber)]
    blocks = bar(status.done / status.total, PROGRESS_WIDTH, palette.model, palette.track)
    figures = f" {count(status.done)}/{count(status.total)} {status.unit}".rstrip() + " "
    pieces = [(segment.text, segment.style or amber) for segment in blocks]
    return [(f"◐ {status.working} ", amber), *pieces, (figures, palette.on(palette.soft))]
