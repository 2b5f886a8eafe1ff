"""Latency: the last pass by phase, decode beside prefill, the last steps.

An earlier token's moment shows the pass of that token alone: what the session's other passes took
is no part of it.
"""

from __future__ import annotations

from rich.style import Style
from textual.strip import Strip

from tokenloop.records import Latency, LatencyHistory
from tokenloop_widgets.drawing.bars import bar, sparkline, stacked_bar
from tokenloop_widgets.drawing.cells import Line, fill_height, parts, placeholder_strips
from tokenloop_widgets.drawing.figures import UNKNOWN, count, milliseconds, percentile
from tokenloop_widgets.palette import Palette

Phases = list[tuple[str, float | None]]

NAME_WIDTH, TIME_WIDTH = 7, 8
BAR_LEAST, BAR_MOST = 6, 24


def kind_of(latency: Latency) -> str:
    """``prefill`` for a pass over several positions, ``decode`` for one."""
    return "prefill" if latency.positions > 1 else "decode"


def pass_ms(latency: Latency) -> float:
    """A pass's time, the sampler's left out."""
    return latency.prefill or latency.decode


def a_token_ms(latency: Latency | None) -> float | None:
    """A pass's time for each position that it computed."""
    if latency is None or latency.positions < 1:
        return None
    return pass_ms(latency) / latency.positions


def whole_pass(latency: Latency | None) -> str:
    """A prefill's time and what it was for: ``61.0 ms for 5``; nothing for a decode."""
    if latency is None or kind_of(latency) == "decode":
        return ""
    return f"{milliseconds(pass_ms(latency))} for {count(latency.positions)}"


def headline(latency: Latency, *, step: bool, then: bool = False) -> str:
    """Say which pass it was and what it took; of a step, pass and sampler together.

    Args:
        latency: of the pass.
        step: whether a step ran it; it read given text otherwise.
        then: whether it is an earlier token's, not the last one.
    """
    whose = "its" if then else "last"
    if step:
        return f"{whose} step: {milliseconds(latency.total)}"
    what = f"{kind_of(latency)} of {count(latency.positions)}"
    return f"{whose} pass: {what}, {milliseconds(pass_ms(latency))}"


def redraw_words(history: LatencyHistory) -> str:
    """What the last change took where no pass ran for it: sampler and paint together.

    Nothing right after a pass, and nothing before the paint is measured.
    """
    if history.redraw_ms is None or history.paint_ms is None:
        return ""
    return f"redraw {milliseconds(history.redraw_ms + history.paint_ms)}, no pass"


def phases(latency: Latency) -> Phases:
    """The parts of a pass and its sampler by name, in milliseconds."""
    return [
        ("layers", latency.layers),
        ("head", latency.head),
        ("copy", latency.copy),
        ("sample", latency.sample),
    ]


def latency_strips(
    history: LatencyHistory | None,
    width: int,
    height: int,
    palette: Palette,
    *,
    placeholder: str = "",
) -> list[Strip]:
    """Draw the session's passes.

    Args:
        history: the passes so far, or ``None`` for the placeholder.
        width: in cells.
        height: in lines.
        palette: the colours.
        placeholder: said where nothing ran yet.
    """
    soft = palette.on(palette.soft)
    if history is None or history.last is None:
        return placeholder_strips(placeholder, width, height, soft)
    took = [*phases(history.last), ("paint", history.paint_ms)]
    bars = [_stacked(took, width, palette)]
    legend = _legend(took, width, palette)
    pair = _side_by_side(history, width, palette)
    rows = 2 if height >= len(bars) + len(legend) + len(pair) + 3 else 1
    steps = _last_steps(history, width, rows, palette)
    blank = Line(width, soft).strip()
    if height < len(bars) + len(legend) + len(pair) + len(steps):
        legend = legend[:1]
    spare = height - len(bars) - len(legend) - len(pair) - len(steps)
    above, below = [blank] * (spare > 0), [blank] * (spare > 1)
    return fill_height([*bars, *legend, *above, *pair, *below, *steps], width, height, soft)


def pass_strips(latency: Latency, width: int, height: int, palette: Palette) -> list[Strip]:
    """Draw one pass alone: by phase, and a token of it."""
    soft = palette.on(palette.soft)
    bars = [_stacked(phases(latency), width, palette)]
    legend = _legend(phases(latency), width, palette)
    line = _a_token(kind_of(latency), a_token_ms(latency), width, palette)
    token = [parts(line, [(whole_pass(latency), soft)], gap=2).strip()]
    if height < len(bars) + len(legend) + len(token):
        legend = legend[:1]
    spare = height - len(bars) - len(legend) - len(token)
    blank = [Line(width, soft).strip()] * (spare > 0)
    return fill_height([*bars, *legend, *blank, *token], width, height, soft)


def _colours(palette: Palette) -> dict[str, str]:
    return {
        "layers": palette.model,
        "head": palette.model_soft,
        "copy": palette.memory,
        "sample": palette.sampler,
        "paint": palette.ready,
    }


def _stacked(took: Phases, width: int, palette: Palette) -> Strip:
    colours = _colours(palette)
    lengths = [(ms or 0.0, colours[name], name) for name, ms in took]
    line = Line(width, palette.on(palette.soft))
    return line.extend(stacked_bar(lengths, width, palette)).strip()


def _legend(took: Phases, width: int, palette: Palette) -> list[Strip]:
    """Every phase with its milliseconds: on one line if need be closer, else on several."""
    soft, colours = palette.on(palette.soft), _colours(palette)
    words = []
    for name, ms in took:
        unit = " ms" if name == "layers" else ""
        words.append((colours[name], f"{name} {phase_figure(ms)}{unit}"))
    needed = sum(len(text) + 2 for _, text in words)
    gap = 1 if needed + 2 * (len(words) - 1) > width >= needed + len(words) - 1 else 2
    lines = [Line(width, soft)]
    for colour, text in words:
        if 2 + len(text) > width:  # part of a figure would be another one
            continue
        if lines[-1].at and lines[-1].room < gap + 2 + len(text):
            lines.append(Line(width, soft))
        line = lines[-1].skip(gap if lines[-1].at else 0)
        line.add("■ ", palette.on(colour)).add(text, soft)
    return [line.strip() for line in lines]


def phase_figure(ms: float | None) -> str:
    """A phase's milliseconds without the unit; two digits where one would show nothing."""
    if ms is None:
        return UNKNOWN
    return f"{ms:.2f}" if 0 < ms < 0.095 else f"{ms:.1f}"


def _side_by_side(history: LatencyHistory, width: int, palette: Palette) -> list[Strip]:
    """Decode and prefill per token with bars of one scale; the factor between them stands out."""
    soft = palette.on(palette.soft)
    decode, prefill = a_token_ms(history.decode), a_token_ms(history.prefill)
    longest = max(decode or 0.0, prefill or 0.0)
    notes: list[list[tuple[str, Style]]] = [[], [(whole_pass(history.prefill), soft)]]
    if decode and prefill:
        notes[1].insert(0, (factor(decode, prefill), palette.on(palette.text, bold=True)))
    start = NAME_WIDTH + TIME_WIDTH + 1 + len("a token") + 2
    noted = max(sum(len(text) + 2 for text, _ in items) for items in notes)
    room = min(BAR_MOST, width - start - noted)
    strips = []
    for name, ms, items in (("decode", decode, notes[0]), ("prefill", prefill, notes[1])):
        line = _a_token(name, ms, width, palette)
        if room >= BAR_LEAST:
            length = ms / longest if ms is not None and longest else 0.0
            line.to(start).extend(bar(length, room, palette.model, palette.track))
        strips.append(parts(line, items, gap=2).strip())
    return strips


def _a_token(name: str, ms: float | None, width: int, palette: Palette) -> Line:
    """``decode   25.1 ms a token``."""
    soft = palette.on(palette.soft)
    line = Line(width, soft).left(name, soft, NAME_WIDTH)
    line.right(milliseconds(ms), palette.on(palette.model, bold=True), TIME_WIDTH).skip(1)
    line.fits("a token", soft)
    return line


def factor(decode: float, prefill: float) -> str:
    """How much cheaper a token is in a prefill than in a decode: ``2.1× faster``."""
    if decode >= prefill:
        return f"{decode / prefill:.1f}× faster"
    return f"{prefill / decode:.1f}× slower"


def _last_steps(history: LatencyHistory, width: int, rows: int, palette: Palette) -> list[Strip]:
    """The last steps from 0 ms up, as many as were measured and fit, with median and 95th."""
    soft = palette.on(palette.soft)
    steps = history.steps_ms
    if not steps:
        return [Line(width, soft).add("no step measured yet", soft).strip()]
    median, high = percentile(steps, 0.5), percentile(steps, 0.95)
    items = [
        (f"p50 {milliseconds(median)}", palette.on(palette.text)),
        (f"p95 {milliseconds(high)}", palette.on(palette.text)),
        (f"of {count(len(steps))} steps" if len(steps) > 1 else "of 1 step", soft),
    ]
    figures = sum(len(text) + 2 for text, _ in items)
    shown = steps[-(width - figures) :] if width > figures else ()
    lines = []
    for text in sparkline(shown, max(shown, default=0.0), rows if shown else 1):
        lines.append(Line(width, soft).add(text, palette.on(palette.model)))
    parts(lines[-1], items, gap=2)
    return [line.strip() for line in lines]
