"""The sampler as a funnel, read from top to bottom, and the draw."""

from __future__ import annotations

from dataclasses import dataclass

from rich.style import Style
from textual.strip import Strip

from tokenloop.records import Choice, StageRecord
from tokenloop_widgets.drawing.bars import line_bar
from tokenloop_widgets.drawing.cells import Line, fill_height, first_fitting, parts, safe
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
GAP = 2
RIBBON_NAME_WIDTH = 7
OFF = "off: "


@dataclass(frozen=True)
class Columns:
    """Widths in cells of the funnel's columns behind name and setting; 0 is left out."""

    flow: int
    bar: int
    cut: int
    bits: int

    @classmethod
    def fit(cls, width: int) -> Columns:
        """The columns that fit, the most telling ones first."""
        room = width - NAME_WIDTH - 1 - SETTING_WIDTH
        flow = cut = entropy = bar = 0
        if room >= GAP + FLOW_WIDTH:
            flow = FLOW_WIDTH
            room -= GAP + flow
        if flow and room >= GAP + BITS_WIDTH:
            entropy = BITS_WIDTH
            room -= GAP + entropy
        if entropy and room >= GAP + CUT_WIDTH:
            cut = CUT_WIDTH
            room -= GAP + cut
        if cut and room >= GAP + BAR_LEAST:
            bar = min(BAR_MOST, room - GAP)
            room -= GAP + bar
        if bar and room >= BOTH_BITS_WIDTH - BITS_WIDTH:
            entropy = BOTH_BITS_WIDTH
        return cls(flow, bar, cut, entropy)


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
    columns = Columns.fit(width)
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
        return f"{values.get('tokens', 0)} ids"
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
    line.skip(1).right("", faint, SETTING_WIDTH).skip(GAP)
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
        return line.skip(1).add(count(choice.vocab_size), blue).strip()
    line.skip(1 + SETTING_WIDTH + GAP).right(count(choice.vocab_size), blue, columns.flow)
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
        line.right("off" if off else stage_setting(stage), faint, SETTING_WIDTH).skip(GAP)
        clauses = stage.skipped.removeprefix(OFF).split(", ")
        ways = [", ".join(clauses[:n]) for n in range(len(clauses), 0, -1)]
        return line.add(first_fitting(ways, line.room) or ways[-1], faint).strip()
    line.left(name, palette.on(palette.text), NAME_WIDTH).skip(1)
    line.right(stage_setting(stage), amber, SETTING_WIDTH).skip(GAP)
    if not columns.flow:
        return line.add(f"→ {count(stage.survivors)}", soft).strip()
    line.right(stage_flow(stage), palette.on(palette.text), columns.flow)
    if columns.bar:
        colours = (palette.sampler, palette.track, palette.ground)
        line.skip(GAP).extend(line_bar(left, columns.bar, *colours))
    if columns.cut:
        line.skip(GAP).right(cut_figure(stage), palette.on(palette.sampler), columns.cut)
    if columns.bits:
        both = columns.bits == BOTH_BITS_WIDTH
        change = f"{stage.entropy_before_bits:.2f} → " if both else ""
        line.skip(GAP).right(change + bits(stage.entropy_bits), soft, columns.bits)
    return line.strip()


def cut_figure(stage: StageRecord) -> str:
    """The mass that a stage cut: ``−8.1 %``; nothing where it cut none."""
    if stage.survivors == stage.survivors_before:
        return ""
    figure = percent(stage.mass_cut)
    return figure if figure.startswith("<") else f"−{figure}"


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


def headline(choice: Choice) -> list[str]:
    """What the panel's frame says: survivors and the entropy drawn from."""
    if choice.final_entropy_bits is None:
        return []
    survivors = choice.stages[-1].survivors if choice.stages else choice.vocab_size
    return [f"{count(survivors)} to draw from", bits(choice.final_entropy_bits)]
