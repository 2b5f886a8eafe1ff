"""Sampler, KV cache and latency in one line each, for small terminals."""

from __future__ import annotations

from rich.style import Style
from textual.strip import Strip

from tokenloop.records import CacheRecord, Choice, Latency, LatencyHistory
from tokenloop_widgets.drawing.cells import Line, fill_height, first_fitting, parts, width_of
from tokenloop_widgets.drawing.draw import draw_words
from tokenloop_widgets.drawing.figures import UNKNOWN, count, milliseconds, size, stage_name
from tokenloop_widgets.drawing.latency import (
    a_token_ms,
    kind_of,
    redraw_words,
    whole_pass,
)
from tokenloop_widgets.drawing.sampler import survivors
from tokenloop_widgets.drawing.stage_words import stage_setting
from tokenloop_widgets.palette import Palette

Items = list[tuple[str, Style]]

NAME_WIDTH, GAP = 9, 2


def sampler_items(choice: Choice | None, room: int, palette: Palette) -> Items:
    """The draw, the stages that acted, and at the end always what is left to draw from.

    What there is no room for is left out before that end, an ellipsis in its place.
    """
    if choice is None:
        return [(UNKNOWN, palette.on(palette.soft))]
    soft = palette.on(palette.soft)
    words = [word for word in draw_words(choice, palette) if not word[0].startswith("falls in")]
    left = survivors(choice)
    if left is None:
        return words
    acted = [stage for stage in choice.stages if stage.skipped is None]
    stages = [(f"{stage_name(stage.name)} {stage_setting(stage)}", soft) for stage in acted]
    end = (f"{count(left)} left", palette.on(palette.text))
    return _up_to_the_end([*words, *stages], end, room, soft)


def _up_to_the_end(items: Items, end: tuple[str, Style], room: int, soft: Style) -> Items:
    """As many items as fit before the end, and the end."""
    ways = [[*items, end]]
    ways += [[*items[:shown], ("…", soft), end] for shown in range(len(items) - 1, 0, -1)]
    ways.append([*items[:1], end])
    fitting = (way for way in ways if _width(way) <= room)
    return next(fitting, [end])


def _width(items: Items) -> int:
    return sum(width_of(text) + GAP for text, _ in items) - GAP


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


def latency_items(
    history: LatencyHistory | None, then: Latency | None, room: int, palette: Palette
) -> Items:
    """Decode and prefill a token; a redraw without a pass first; of an earlier token its pass."""
    soft = palette.on(palette.soft)
    if then is not None:
        return [
            (_a_token(then, kind_of(then), room), palette.on(palette.model, bold=True)),
            (whole_pass(then), soft),
        ]
    if history is None:
        return [(UNKNOWN, soft)]
    redraw = redraw_words(history)
    if redraw:
        return [
            (redraw, palette.on(palette.sampler, bold=True)),
            (_a_token(history.decode, "decode", room), palette.on(palette.model)),
            (_a_token(history.prefill, "prefill", room), palette.on(palette.model)),
        ]
    return [
        (_a_token(history.decode, "decode", room), palette.on(palette.model, bold=True)),
        (_a_token(history.prefill, "prefill", room), palette.on(palette.model)),
        (whole_pass(history.prefill), soft),
    ]


def _a_token(latency: Latency | None, kind: str, room: int) -> str:
    took = milliseconds(a_token_ms(latency))
    return first_fitting((f"{kind} {took} a token", f"{kind} {took}", took), room)


def summary_strips(
    choice: Choice | None,
    cache: CacheRecord | None,
    history: LatencyHistory | None,
    width: int,
    height: int,
    palette: Palette,
    *,
    then: Latency | None = None,
) -> list[Strip]:
    """Draw the three lines, each with the number of the panel that it stands for.

    Args:
        choice: of the sampler's line.
        cache: of the cache's.
        history: of the latency's.
        width: in cells.
        height: in lines.
        palette: the colours.
        then: an earlier token's pass, to be shown instead of the history.
    """
    soft = palette.on(palette.soft)
    room = width - NAME_WIDTH - 2
    lines = (
        ("3", "sampler", sampler_items(choice, room, palette)),
        ("4", "KV cache", cache_items(cache, room, palette)),
        ("5", "latency", latency_items(history, then, room, palette)),
    )
    strips = []
    for number, name, items in lines:
        line = Line(width, soft).add(number, palette.on(palette.text, bold=True)).skip(1)
        line.left(name, soft, NAME_WIDTH)
        rest = Line(max(0, line.room), soft)
        for segment in parts(rest, items, gap=GAP).strip():
            line.add(segment.text, segment.style or soft)
        strips.append(line.strip())
    return fill_height(strips, width, height, soft)
