"""Latency: the last pass by phase, decode beside prefill, the last steps."""

from __future__ import annotations

from rich.style import Style
from textual.strip import Strip

from tokenloop.records import Latency, LatencyHistory
from tokenloop_widgets.drawing.bars import bar, sparkline, stacked_bar
from tokenloop_widgets.drawing.cells import Line, fill_height, parts
from tokenloop_widgets.drawing.figures import UNKNOWN, count, milliseconds, percentile
from tokenloop_widgets.palette import Palette

NAME_WIDTH, TIME_WIDTH = 8, 8


def decode_ms(history: LatencyHistory) -> float | None:
    """The last decode's time for its one token."""
    return history.decode.decode if history.decode else None


def prefill_ms(history: LatencyHistory) -> float | None:
    """The last prefill's time a token."""
    prefill = history.prefill
    return prefill.prefill / prefill.positions if prefill and prefill.positions else None


def phases(latency: Latency, paint_ms: float | None) -> list[tuple[str, float | None]]:
    """The parts of a step by name, in milliseconds; ``None`` where not known."""
    return [
        ("layers", latency.layers),
        ("head", latency.head),
        ("copy", latency.copy),
        ("sample", latency.sample),
        ("paint", paint_ms),
    ]


def latency_strips(
    history: LatencyHistory | None,
    width: int,
    height: int,
    palette: Palette,
    *,
    last: Latency | None = None,
    placeholder: str = "",
) -> list[Strip]:
    """Draw the panel.

    Args:
        history: the passes so far, or ``None`` for the placeholder.
        width: in cells.
        height: in lines.
        palette: the colours.
        last: the pass to split by phase; by default the last decode, else the last prefill.
        placeholder: said where nothing ran yet.
    """
    soft = palette.on(palette.soft)
    shown = last or (history and (history.decode or history.prefill)) or None
    if history is None or shown is None:
        line = Line(width, soft).add(placeholder, soft)
        return fill_height([line.strip()], width, height, soft)
    strips = [
        _stacked(shown, history.paint_ms, width, palette),
        _legend(shown, history.paint_ms, width, palette),
        *_side_by_side(history, width, palette),
        _last_steps(history, width, palette),
    ]
    if height >= len(strips) + 1:
        strips.insert(2, Line(width, soft).strip())
    return fill_height(strips, width, height, soft)


def _colours(palette: Palette) -> dict[str, str]:
    return {
        "layers": palette.model,
        "head": palette.model_soft,
        "copy": palette.memory,
        "sample": palette.sampler,
        "paint": palette.ready,
    }


def _stacked(latency: Latency, paint_ms: float | None, width: int, palette: Palette) -> Strip:
    colours = _colours(palette)
    lengths = [(ms or 0.0, colours[name]) for name, ms in phases(latency, paint_ms)]
    line = Line(width, palette.on(palette.soft))
    return line.extend(stacked_bar(lengths, width, palette.track)).strip()


def _legend(latency: Latency, paint_ms: float | None, width: int, palette: Palette) -> Strip:
    line = Line(width, palette.on(palette.soft))
    colours = _colours(palette)
    for name, ms in phases(latency, paint_ms):
        figure = UNKNOWN if ms is None else f"{ms:.1f}"
        text = f"{name} {figure}"
        gap = 2 if line.at else 0
        if line.room < gap + 2 + len(text):
            break
        line.skip(gap).add("■ ", palette.on(colours[name])).add(text, palette.on(palette.soft))
    line.fits("  ms", palette.on(palette.soft))
    return line.strip()


def _side_by_side(history: LatencyHistory, width: int, palette: Palette) -> list[Strip]:
    decode, prefill = decode_ms(history), prefill_ms(history)
    longest = max(decode or 0.0, prefill or 0.0)
    strips = []
    for name, ms, note in (
        ("decode", decode, "a token"),
        ("prefill", prefill, _prefill_note(history)),
    ):
        line = Line(width, palette.on(palette.soft))
        line.left(name, palette.on(palette.soft), NAME_WIDTH)
        line.right(milliseconds(ms), palette.on(palette.model, bold=True), TIME_WIDTH).skip(1)
        room = max(0, width - line.at - 2 - NOTE_WIDTH)
        if room >= 8 and ms is not None and longest:
            line.extend(bar(ms / longest, room, palette.model, palette.track)).skip(2)
        parts(line, [(note, palette.on(palette.soft))], gap=0)
        strips.append(line.strip())
    return strips


NOTE_WIDTH = 34


def _prefill_note(history: LatencyHistory) -> str:
    prefill, a_token, decode = history.prefill, prefill_ms(history), decode_ms(history)
    if prefill is None or not a_token:
        return "a token"
    note = f"a token: {milliseconds(prefill.prefill)} for {count(prefill.positions)}"
    if decode is None:
        return note
    factor = decode / a_token
    return f"{note}, {factor:.1f}× faster" if factor >= 1 else f"{note}, {1 / factor:.1f}× slower"


def _last_steps(history: LatencyHistory, width: int, palette: Palette) -> Strip:
    line = Line(width, palette.on(palette.soft))
    steps = history.steps_ms
    soft: Style = palette.on(palette.soft)
    if not steps:
        return line.add("no step measured yet", soft).strip()
    median, high = percentile(steps, 0.5), percentile(steps, 0.95)
    figures = f"p50 {milliseconds(median)}  p95 {milliseconds(high)}"
    number = f"last {count(len(steps))} steps" if len(steps) > 1 else "1 step"
    room = width - len(figures) - len(number) - 6
    shown = steps[-room:] if room > 0 else ()
    line.add(sparkline(shown, max(shown, default=0.0)), palette.on(palette.model))
    if shown:
        line.skip(2)
    return parts(line, [(figures, soft), (number, soft)], gap=2).strip()
