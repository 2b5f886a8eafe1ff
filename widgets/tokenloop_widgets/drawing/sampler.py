"""The sampler as a funnel, read from top to bottom, and the draw."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from rich.style import Style
from textual.strip import Strip

from tokenloop.records import Choice, StageRecord
from tokenloop_widgets.drawing.bars import line_bar
from tokenloop_widgets.drawing.cells import (
    Line,
    clip_words,
    fill_height,
    first_fitting,
    parts,
    safe,
    width_of,
)
from tokenloop_widgets.drawing.figures import bits, count, percent, setting, stage_name
from tokenloop_widgets.drawing.ribbon import (
    Ribbon,
    Shades,
    final_cells,
    model_ribbon,
    pointer_line,
    ribbon_cells,
    ribbon_line,
)
from tokenloop_widgets.palette import Palette

NAME_WIDTH, SETTING_WIDTH, FLOW_WIDTH, CUT_WIDTH, BITS_WIDTH = 11, 5, 14, 7, 9
BAR_LEAST, BAR_MOST = 6, 16
BOTH_BITS_WIDTH = 16  # "3.58 → 2.43 bits"
"""Least widths, so that the columns stand still while their figures change."""

GAP = 2
RIBBON_NAME_WIDTH = 7
OFF = "off: "


@dataclass(frozen=True)
class Columns:
    """Widths in cells of the funnel's columns behind the name; 0 is left out.

    Attributes:
        setting, flow, bar, cut, bits: the columns.
        both: whether there is room for the entropy before a stage, too.
    """

    setting: int
    flow: int
    bar: int
    cut: int
    bits: int
    both: bool

    @classmethod
    def fit(cls, width: int, choice: Choice) -> Columns:
        """The columns that fit, the most telling ones first, each wide enough for all its figures.

        Args:
            width: cells in all.
            choice: what the columns have to hold.
        """
        stages = [stage for stage in choice.stages if stage.skipped is None]
        setting = _widest(SETTING_WIDTH, [stage_setting(stage) for stage in choice.stages])
        flow_needs = _widest(FLOW_WIDTH, [count(choice.vocab_size), *map(stage_flow, stages)])
        bits_need = _widest(BITS_WIDTH, [bits(choice.entropy_bits), *map(entropy_after, stages)])
        cut_needs = _widest(CUT_WIDTH, map(cut_figure, stages))
        both_need = _widest(BOTH_BITS_WIDTH, map(entropy_change, stages))
        room = width - NAME_WIDTH - 1 - setting
        flow = cut = entropy = bar = 0
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
        return cls(setting, flow, bar, cut, both_need if both else entropy, both)


def _widest(least: int, texts: Iterable[str]) -> int:
    return max([least, *map(width_of, texts)])


def sampler_strips(
    choice: Choice | None, width: int, height: int, palette: Palette, *, placeholder: str = ""
) -> list[Strip]:
    """Draw the funnel and the draw.

    Where the height does not hold everything, the draw stays, then the stages that acted.

    Args:
        choice: what to draw, or ``None`` for the placeholder.
        width: in cells.
        height: in lines.
        palette: the colours.
        placeholder: said where there is no choice.
    """
    soft = palette.on(palette.soft)
    blank = Line(width, soft).strip()
    if choice is None:
        line = Line(width, soft).add(placeholder, soft)
        return fill_height([line.strip()], width, height, soft)
    columns = Columns.fit(width, choice)
    stages = funnel_strips(choice, choice.stages, columns, width, palette)
    spare = height - len(stages)
    draw = draw_strips(choice, width, palette, both=spare >= 6, tall=spare >= 10)
    room = max(0, height - len(draw))
    if len(stages) > room:
        acted = [stage for stage in choice.stages if stage.skipped is None]
        stages = funnel_strips(choice, acted, columns, width, palette)[:room]
    if len(stages) < room:
        stages.append(blank)
    if len(stages) < room and columns.flow:
        stages.insert(0, _header(columns, width, palette))
    return fill_height([*stages, *draw], width, height, soft)


def funnel_strips(
    choice: Choice,
    stages: tuple[StageRecord, ...] | list[StageRecord],
    columns: Columns,
    width: int,
    palette: Palette,
) -> list[Strip]:
    """One line for the model and one a stage."""
    strips = [_model(choice, columns, width, palette)]
    left = 1.0
    for stage in stages:
        left *= 1 - stage.mass_cut
        strips.append(_stage(stage, left, columns, width, palette))
    return strips


def stage_setting(stage: StageRecord) -> str:
    """A stage's setting in few cells; of the penalties the factor."""
    values = stage.settings
    if stage.name == "logit_bias":
        tokens = values.get("tokens", 0)
        return f"{setting(tokens)} {'id' if tokens == 1 else 'ids'}"
    if stage.name == "penalties" and "repeat" in values:
        return f"×{setting(values['repeat'])}"
    return " ".join(setting(value) for value in values.values())


def stage_flow(stage: StageRecord) -> str:
    """What the stage did to the candidates: ``49,152 → 40``, or how it reshaped them."""
    if stage.survivors != stage.survivors_before:
        return f"{count(stage.survivors_before)} → {count(stage.survivors)}"
    change = stage.entropy_bits - stage.entropy_before_bits
    if abs(change) < 0.005:
        return count(stage.survivors)
    return "sharper" if change < 0 else "flatter"


def _header(columns: Columns, width: int, palette: Palette) -> Strip:
    faint = palette.on(palette.faint)
    line = Line(width, faint).left("stage", faint, NAME_WIDTH)
    line.skip(1 + columns.setting + GAP)
    line.right("candidates", faint, columns.flow)
    if columns.bar:
        line.skip(GAP).left("mass left", faint, columns.bar)
    if columns.cut:
        line.skip(GAP).right("cut", faint, columns.cut)
    if columns.bits:
        line.skip(GAP).right("entropy", faint, columns.bits)
    return line.strip()


def _model(choice: Choice, columns: Columns, width: int, palette: Palette) -> Strip:
    blue = palette.on(palette.model)
    line = Line(width, palette.on(palette.soft)).left("model", blue, NAME_WIDTH)
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
    amber = palette.on(palette.sampler, bold=True)
    line = Line(width, soft)
    name = stage_name(stage.name)
    if stage.skipped is not None:
        off = stage.skipped.startswith(OFF)
        line.left(name, soft, NAME_WIDTH).skip(1)
        line.right("off" if off else stage_setting(stage), faint, columns.setting).skip(GAP)
        clauses = stage.skipped.removeprefix(OFF).split(", ")
        ways = [", ".join(clauses[:n]) for n in range(len(clauses), 0, -1)]
        why = first_fitting(ways, line.room) or clip_words(ways[-1], line.room)
        return line.add(why, faint).strip()
    line.left(name, palette.on(palette.text), NAME_WIDTH).skip(1)
    line.right(stage_setting(stage), amber, columns.setting).skip(GAP)
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
    return line.strip()


def cut_figure(stage: StageRecord) -> str:
    """The mass that a stage cut: ``−8.1 %``; nothing where it cut none."""
    if stage.survivors == stage.survivors_before:
        return ""
    figure = percent(stage.mass_cut)
    return figure if figure.startswith("<") else f"−{figure}"


def entropy_after(stage: StageRecord) -> str:
    """``2.43 bits``."""
    return bits(stage.entropy_bits)


def entropy_change(stage: StageRecord) -> str:
    """``3.58 → 2.43 bits``."""
    return f"{stage.entropy_before_bits:.2f} → {bits(stage.entropy_bits)}"


def draw_strips(
    choice: Choice, width: int, palette: Palette, *, both: bool, tall: bool = False
) -> list[Strip]:
    """The draw in words, and the ribbon with its pointer; for a given token only the words.

    Args:
        choice: what to draw.
        width: in cells.
        palette: the colours.
        both: show the model's ribbon too, above the final one.
        tall: ribbons of two lines, and air between.
    """
    soft = palette.on(palette.soft)
    strips = [parts(Line(width, soft), draw_words(choice, palette), gap=2).strip()]
    if not choice.ribbon:
        return strips
    if tall:
        strips.append(Line(width, soft).strip())
    names = RIBBON_NAME_WIDTH if both and width >= 40 else 0
    room = width - names

    def add_ribbon(name: str, ink: Style, cells: list[int], ribbon: Ribbon, shades: Shades) -> None:
        line = Line(width, soft).left(name, ink, names)
        strips.append(ribbon_line(line, cells, ribbon, shades).strip())
        if tall:
            line = Line(width, soft).skip(names)
            strips.append(ribbon_line(line, cells, ribbon, shades, labels=False).strip())

    if both:
        own = model_ribbon(choice)
        blue = palette.on(palette.model)
        add_ribbon("model", blue, ribbon_cells(own, room), own, Shades.model(choice, palette))
    amber = palette.on(palette.sampler)
    cells = final_cells(choice, room)
    add_ribbon("final", amber, cells, choice.ribbon, Shades.final(choice, palette))
    strips.append(pointer_line(Line(width, soft).skip(names), choice, room, palette).strip())
    return strips


def draw_words(choice: Choice, palette: Palette) -> list[tuple[str, Style]]:
    """The draw as items: ``u = 0.3117``, ``falls in [0.000, 0.463)``, ``→ ␣Sydney``."""
    draw = choice.draw
    soft, amber = palette.on(palette.soft), palette.on(palette.sampler, bold=True)
    chosen = (f"→ {safe(choice.chosen.label)}", palette.on(palette.text, bold=True))
    if draw.how == "given":
        return [("given by you: nothing was drawn", soft)]
    interval = ""
    if draw.low is not None and draw.high is not None:
        interval = f"[{draw.low:.3f}, {draw.high:.3f})"
    if draw.how == "greedy":
        return [("greedy", amber), chosen, ("T = 0: the best, nothing is drawn", soft)]
    if draw.how == "forced":
        cut = stage_name(choice.chosen.cut_by or "the sampler")
        where = f"its interval {interval}" if interval else f"it was cut by {cut}"
        return [("taken by you", amber), chosen, (where, soft)]
    drawn = f"u = {draw.u:.4f}" if draw.u is not None else "drawn"
    items = [(drawn, amber), (f"falls in {interval}" if interval else "", soft), chosen]
    if draw.attempt:
        items.append((f"attempt {draw.attempt}", soft))
    return items


def survivors(choice: Choice) -> int | None:
    """How many candidates the last stage left to draw from; ``None`` where no sampler ran."""
    if choice.final_entropy_bits is None:
        return None
    return choice.stages[-1].survivors if choice.stages else choice.vocab_size


def headline(choice: Choice) -> list[str]:
    """What the panel's frame says: survivors and the entropy drawn from."""
    left = survivors(choice)
    return [] if left is None else [f"{count(left)} to draw from", bits(choice.final_entropy_bits)]
