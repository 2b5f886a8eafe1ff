"""Sampler, KV cache and latency in one line each, for small terminals."""

from __future__ import annotations

from rich.style import Style
from textual.strip import Strip

from tokenloop.records import CacheRecord, Choice, LatencyHistory
from tokenloop_widgets.drawing.cells import Line, fill_height, first_fitting, parts
from tokenloop_widgets.drawing.figures import UNKNOWN, count, milliseconds, size, stage_name
from tokenloop_widgets.drawing.latency import decode_ms, prefill_ms
from tokenloop_widgets.drawing.sampler import draw_words, stage_setting
from tokenloop_widgets.palette import Palette

Items = list[tuple[str, Style]]

NAME_WIDTH = 9


def sampler_items(choice: Choice | None, palette: Palette) -> Items:
    """The draw, then the stages that acted with their survivors."""
    if choice is None:
        return [(UNKNOWN, palette.on(palette.soft))]
    soft = palette.on(palette.soft)
    words = [word for word in draw_words(choice, palette) if not word[0].startswith("falls in")]
    stages = []
    for stage in choice.stages:
        if stage.skipped is None:
            text = f"{stage_name(stage.name)} {stage_setting(stage)}"
            left = count(stage.survivors)
            if stage.survivors != stage.survivors_before and left != stage_setting(stage):
                text += f", {left} left"
            stages.append((text, soft))
    return [*words, *stages]


def cache_items(cache: CacheRecord | None, room: int, palette: Palette) -> Items:
    """Positions × bytes = bytes, then what was kept and computed."""
    soft = palette.on(palette.soft)
    if cache is None:
        return [(UNKNOWN, soft)]
    positions, held = count(cache.positions), size(cache.bytes)
    ways = (
        f"{positions} × {size(cache.bytes_per_position)} = {held}",
        f"{positions}: {held}",
        held,
    )
    items = [
        (first_fitting(ways, room), palette.on(palette.memory, bold=True)),
        (f"kept {count(cache.kept)} · computed {count(cache.computed)}", soft),
    ]
    if cache.positions >= cache.context_length:
        items.append(("context full", palette.on(palette.error, bold=True)))
    else:
        items.append((f"of {count(cache.context_length)}", soft))
    return items


def latency_items(history: LatencyHistory | None, room: int, palette: Palette) -> Items:
    """Decode and prefill a token."""
    soft = palette.on(palette.soft)
    if history is None:
        return [(UNKNOWN, soft)]
    decode = milliseconds(decode_ms(history))
    ways = (f"decode {decode} a token", f"decode {decode}", decode)
    items = [
        (first_fitting(ways, room), palette.on(palette.model, bold=True)),
        (f"prefill {milliseconds(prefill_ms(history))} a token", palette.on(palette.model)),
    ]
    if history.prefill is not None:
        whole = milliseconds(history.prefill.prefill)
        items.append((f"{whole} for {count(history.prefill.positions)}", soft))
    return items


def summary_strips(
    choice: Choice | None,
    cache: CacheRecord | None,
    history: LatencyHistory | None,
    width: int,
    height: int,
    palette: Palette,
) -> list[Strip]:
    """Draw the three lines, each with the number of the panel that it stands for."""
    soft = palette.on(palette.soft)
    room = width - NAME_WIDTH - 2
    lines = (
        ("3", "sampler", sampler_items(choice, palette)),
        ("4", "KV cache", cache_items(cache, room, palette)),
        ("5", "latency", latency_items(history, room, palette)),
    )
    strips = []
    for number, name, items in lines:
        line = Line(width, soft).add(number, palette.on(palette.text, bold=True)).skip(1)
        line.left(name, soft, NAME_WIDTH)
        rest = Line(max(0, line.room), soft)
        for segment in parts(rest, items, gap=2).strip():
            line.add(segment.text, segment.style or soft)
        strips.append(line.strip())
    return fill_height(strips, width, height, soft)
