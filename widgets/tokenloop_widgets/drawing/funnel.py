"""The funnel: from the model's candidates through the stages, a line each, those off as one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from textwrap import wrap

from textual.strip import Strip

from tokenloop.records import Choice, StageRecord
from tokenloop_widgets.drawing.bars import line_bar
from tokenloop_widgets.drawing.cells import Line, clip_words, first_fitting, safe, width_of
from tokenloop_widgets.drawing.figures import bits, count, stage_name
from tokenloop_widgets.drawing.stage_words import (
    SWITCHED_OFF,
    cut_figure,
    entropy_after,
    entropy_change,
    reason,
    remark,
    stage_flow,
    stage_setting,
)
from tokenloop_widgets.palette import Palette

NAME_WIDTH, SETTING_WIDTH, FLOW_WIDTH, CUT_WIDTH, BITS_WIDTH = 11, 5, 14, 7, 9
BAR_LEAST, BAR_MOST = 6, 16
BOTH_BITS_WIDTH = 16  # "3.58 → 2.43 bits"
"""Least widths, so that the columns stand still while their figures change."""

REMARK_LEAST, REMARK_MOST = 14, 60
GAP = 2
OFF_LINES = 2
TIED = "\xa0"
REASON_WIDTH = 38
"""Cells for a stage that is off with its reason, where they stand beside each other."""


@dataclass(frozen=True)
class Columns:
    """Widths in cells of the funnel's columns; 0 is left out.

    Attributes:
        name, setting, flow, bar, cut, bits, remark: the columns.
        both: whether there is room for the entropy before a stage, too.
    """

    name: int
    setting: int
    flow: int
    bar: int
    cut: int
    bits: int
    remark: int
    both: bool

    @classmethod
    def fit(cls, width: int, choice: Choice) -> Columns:
        """The columns that fit, the most telling ones first, each wide enough for all its figures.

        Args:
            width: cells in all.
            choice: what the columns have to hold.
        """
        stages = [stage for stage in choice.stages if stage.skipped is None]
        on = [stage for stage in choice.stages if not stage.off]
        name = _widest(NAME_WIDTH, [stage_name(stage.name) for stage in on])
        setting = _widest(SETTING_WIDTH, [stage_setting(stage) for stage in on])
        flow_needs = _widest(FLOW_WIDTH, [count(choice.vocab_size), *map(stage_flow, stages)])
        bits_need = _widest(BITS_WIDTH, [bits(choice.entropy_bits), *map(entropy_after, stages)])
        cut_needs = _widest(CUT_WIDTH, map(cut_figure, stages))
        both_need = _widest(BOTH_BITS_WIDTH, map(entropy_change, stages))
        room = width - name - 1 - setting
        flow = cut = entropy = bar = said = 0
        if room >= GAP + flow_needs:
            flow = flow_needs
            room -= GAP + flow
        if flow and room >= GAP + bits_need:
            entropy = bits_need
            room -= GAP + entropy
        if entropy and room >= GAP + cut_needs:
            cut = cut_needs
            room -= GAP + cut
        if cut and room >= GAP + BAR_LEAST:
            bar = min(BAR_MOST, room - GAP)
            room -= GAP + bar
        both = bar > 0 and room >= both_need - bits_need
        if both:
            room -= both_need - bits_need
        if room >= GAP + REMARK_LEAST:
            said = min(REMARK_MOST, room - GAP)
        return cls(name, setting, flow, bar, cut, both_need if both else entropy, said, both)


def _widest(least: int, texts: Iterable[str]) -> int:
    return max([least, *map(width_of, texts)])


def funnel_strips(
    choice: Choice, columns: Columns, width: int, room: int, palette: Palette, *, full: bool
) -> list[Strip]:
    """The model's line, a line for each stage that is on, and below them those that are off.

    Where the room does not hold them, the stages that acted stay.

    Args:
        choice: what to draw.
        columns: the widths.
        width: in cells.
        room: lines at most.
        palette: the colours.
        full: every stage with its reason, as far as the room goes.
    """
    if full and room > len(choice.stages):
        return _lines(choice, choice.stages, columns, width, palette)
    on = [stage for stage in choice.stages if not stage.off]
    acted = [stage for stage in on if stage.skipped is None]
    off = [stage for stage in choice.stages if stage.off]
    shown = on if len(on) + 1 + bool(off) <= room else acted
    strips = _lines(choice, shown, columns, width, palette)[:room]
    idle = [] if shown is on else [stage for stage in on if stage.skipped is not None]
    room -= len(strips)
    reasons = _reasons(off, width, palette) if full and off else []
    if reasons and room > len(reasons):
        faint = palette.on(palette.faint)
        return [*strips, Line(width, faint).add("off, and why", faint).strip(), *reasons]
    return [*strips, *_collapsed(idle, off, width, min(room, OFF_LINES), palette)]


def _lines(
    choice: Choice, stages: Sequence[StageRecord], columns: Columns, width: int, palette: Palette
) -> list[Strip]:
    strips = [_model(choice, columns, width, palette)]
    left = 1.0
    for stage in stages:
        left *= 1 - stage.mass_cut
        strips.append(_stage(stage, left, columns, width, palette))
    return strips


def header_strip(columns: Columns, width: int, palette: Palette) -> Strip:
    """What the columns are."""
    faint = palette.on(palette.faint)
    line = Line(width, faint).left("stage", faint, columns.name)
    line.skip(1 + columns.setting + GAP)
    line.right("candidates", faint, columns.flow)
    if columns.bar:
        name = first_fitting(("mass left", "mass"), columns.bar)
        line.skip(GAP).left(name, faint, columns.bar)
    if columns.cut:
        line.skip(GAP).right("cut", faint, columns.cut)
    if columns.bits:
        line.skip(GAP).right("entropy", faint, columns.bits)
    return line.strip()


def _model(choice: Choice, columns: Columns, width: int, palette: Palette) -> Strip:
    blue = palette.on(palette.model)
    line = Line(width, palette.on(palette.soft)).left("model", blue, columns.name)
    if not columns.flow:
        line.skip(1).fits(count(choice.vocab_size), blue)
        return line.strip()
    line.skip(1 + columns.setting + GAP).right(count(choice.vocab_size), blue, columns.flow)
    if columns.bar:
        colours = (palette.model, palette.track, palette.ground)
        line.skip(GAP).extend(line_bar(1.0, columns.bar, *colours))
    if columns.cut:
        line.skip(GAP + columns.cut)
    if columns.bits:
        line.skip(GAP).right(bits(choice.entropy_bits), blue, columns.bits)
    return line.strip()


def _stage(
    stage: StageRecord, left: float, columns: Columns, width: int, palette: Palette
) -> Strip:
    soft, faint = palette.on(palette.soft), palette.on(palette.faint)
    line = Line(width, soft)
    name = safe(stage_name(stage.name))
    if stage.skipped is not None:
        off = stage.off
        line.left(name, faint if off else soft, columns.name).skip(1)
        line.right("off" if off else stage_setting(stage), faint, columns.setting).skip(GAP)
        return line.add(reason(stage, line.room), faint).strip()
    line.left(name, palette.on(palette.text), columns.name).skip(1)
    line.right(stage_setting(stage), palette.on(palette.sampler, bold=True), columns.setting)
    line.skip(GAP)
    if not columns.flow:
        line.fits(f"→ {count(stage.survivors)}", soft)
        return line.strip()
    line.right(stage_flow(stage), palette.on(palette.text), columns.flow)
    if columns.bar:
        colours = (palette.sampler, palette.track, palette.ground)
        line.skip(GAP).extend(line_bar(left, columns.bar, *colours))
    if columns.cut:
        line.skip(GAP).right(cut_figure(stage), palette.on(palette.sampler), columns.cut)
    if columns.bits:
        entropy = entropy_change(stage) if columns.both else entropy_after(stage)
        line.skip(GAP).right(entropy, soft, columns.bits)
    if columns.remark:
        line.skip(GAP).add(clip_words(safe(remark(stage)), min(columns.remark, line.room)), faint)
    return line.strip()


def remark_strips(choice: Choice, columns: Columns, width: int, palette: Palette) -> list[Strip]:
    """A line for each stage that acted and has more to say, where its own line has no room.

    What a stage found comes before what is only its definition.
    """
    if columns.remark:
        return []
    faint, soft = palette.on(palette.faint), palette.on(palette.soft)
    strips = []
    for stage in sorted(choice.stages, key=lambda stage: stage.note is None):
        if stage.skipped is None and remark(stage):
            line = Line(width, soft).left(safe(stage_name(stage.name)), soft, columns.name).skip(1)
            strips.append(line.add(clip_words(safe(remark(stage)), line.room), faint).strip())
    return strips


def _reasons(off: Sequence[StageRecord], width: int, palette: Palette) -> list[Strip]:
    """The stages that are off with their reasons, beside each other."""
    soft, faint = palette.on(palette.soft), palette.on(palette.faint)
    beside = max(1, width // REASON_WIDTH)
    each = width // beside
    strips = []
    for start in range(0, len(off), beside):
        line = Line(width, soft)
        for column, stage in enumerate(off[start : start + beside]):
            line.to(column * each).left(safe(stage_name(stage.name)), soft, NAME_WIDTH).skip(1)
            line.add(reason(stage, min(line.room, each - NAME_WIDTH - 1 - GAP)), faint)
        strips.append(line.strip())
    return strips


def _collapsed(
    idle: Sequence[StageRecord],
    off: Sequence[StageRecord],
    width: int,
    most: int,
    palette: Palette,
) -> list[Strip]:
    """Those that did nothing, by name: what the person switched off first."""
    switched = [stage for stage in off if stage.why == SWITCHED_OFF]
    by_value = [stage for stage in off if stage.why != SWITCHED_OFF]
    groups = (("switched off", switched), ("no effect", idle), ("off", by_value))
    faint = palette.on(palette.faint)
    strips: list[Strip] = []
    for title, stages in groups:
        names = [safe(stage_name(stage.name)) for stage in stages]
        for text in _wrapped(f"{title}: ", names, width, most - len(strips)):
            strips.append(Line(width, faint).add(text, faint).strip())
    return strips


def _wrapped(title: str, names: list[str], width: int, most: int) -> list[str]:
    """Whole names on at most ``most`` lines; a number stands for those that don't fit."""
    room = width - len(title)
    if room < 1:
        return []
    for shown in range(len(names), 0, -1):
        joined = ", ".join(name.replace(" ", TIED) for name in names[:shown])
        more = len(names) - shown
        lines = wrap(
            f"{joined} +{more}" if more else joined,
            room,
            break_long_words=False,
            break_on_hyphens=False,
        )
        if len(lines) <= most and all(width_of(line) <= room for line in lines):
            titles = [title, *[" " * len(title)] * (len(lines) - 1)]
            return [
                before + line.replace(TIED, " ") for before, line in zip(titles, lines, strict=True)
            ]
    return []
