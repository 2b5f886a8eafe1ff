"""The sampler as a funnel, read from top to bottom, and the draw."""

from __future__ import annotations

from rich.style import Style
from textual.strip import Strip

from tokenloop.records import Choice, StageRecord
from tokenloop_widgets.drawing.bars import line_bar
from tokenloop_widgets.drawing.cells import Line, fill_height, parts
from tokenloop_widgets.drawing.figures import bits, count, percent, setting, stage_name
from tokenloop_widgets.drawing.ribbon import pointer_strip, ribbon_strip
from tokenloop_widgets.palette import Palette

NAME_WIDTH, SETTING_WIDTH, FLOW_WIDTH, BAR_WIDTH, CUT_WIDTH = 11, 6, 15, 8, 8
GAP = 2


def sampler_strips(
    choice: Choice | None, width: int, height: int, palette: Palette, *, placeholder: str = ""
) -> list[Strip]:
    """Draw the funnel and the draw.

    Where the height does not hold everything the draw stays, then the stages that acted.

    Args:
        choice: what to draw, or ``None`` for the placeholder.
        width: in cells.
        height: in lines.
        palette: the colours.
        placeholder: said where there is no choice.
    """
    soft = palette.on(palette.soft)
    if choice is None:
        line = Line(width, soft).add(placeholder, soft)
        return fill_height([line.strip()], width, height, soft)
    draw = draw_strips(choice, width, palette)
    room = max(0, height - len(draw))
    stages = list(choice.stages)
    if 1 + len(stages) > room:
        stages = [stage for stage in stages if stage.skipped is None]
    left = 1.0
    funnel = [_model_strip(choice, width, palette)]
    for stage in stages:
        left *= 1 - stage.mass_cut
        funnel.append(_stage_strip(stage, left, width, palette))
    funnel = funnel[:room]
    spare = room - len(funnel)
    blank = Line(width, soft).strip()
    return fill_height([*funnel, *[blank] * min(1, spare), *draw], width, height, soft)


def mass_left(choice: Choice) -> float:
    """What the stages' cuts leave of the probability that entered the chain, in [0, 1]."""
    left = 1.0
    for stage in choice.stages:
        left *= 1 - stage.mass_cut
    return left


def stage_setting(stage: StageRecord) -> str:
    """A stage's setting in few cells; of the penalties the factor."""
    values = stage.settings
    if stage.name == "logit_bias":
        tokens = values.get("tokens", 0)
        return f"{tokens} ids"
    if stage.name == "penalties" and "repeat" in values:
        return f"×{setting(values['repeat'])}"
    return " ".join(setting(value) for value in values.values())


def _columns(line: Line) -> tuple[bool, bool]:
    """Whether there is room for the bar, and for the numbers of survivors."""
    fixed = NAME_WIDTH + 1 + SETTING_WIDTH + GAP
    return (
        line.width >= fixed + FLOW_WIDTH + BAR_WIDTH + CUT_WIDTH + 3 * GAP,
        line.width >= fixed + FLOW_WIDTH,
    )


def _model_strip(choice: Choice, width: int, palette: Palette) -> Strip:
    line = Line(width, palette.on(palette.soft))
    has_bar, has_flow = _columns(line)
    line.left("model", palette.on(palette.text), NAME_WIDTH)
    if not has_flow:
        line.skip(1)
        return parts(
            line,
            [
                (count(choice.vocab_size), palette.on(palette.model)),
                (bits(choice.entropy_bits), palette.on(palette.model)),
            ],
        ).strip()
    line.skip(1 + SETTING_WIDTH + GAP)
    line.right(count(choice.vocab_size), palette.on(palette.model), FLOW_WIDTH)
    if has_bar:
        bar = line_bar(1.0, BAR_WIDTH, palette.model, palette.track, palette.ground)
        line.skip(GAP).extend(bar).skip(GAP + CUT_WIDTH)
    line.skip(GAP).fits(bits(choice.entropy_bits), palette.on(palette.model))
    return line.strip()


def _stage_strip(stage: StageRecord, left: float, width: int, palette: Palette) -> Strip:
    soft, faint = palette.on(palette.soft), palette.on(palette.faint)
    acted = stage.skipped is None
    line = Line(width, soft)
    has_bar, has_flow = _columns(line)
    line.left(stage_name(stage.name), palette.on(palette.text) if acted else soft, NAME_WIDTH)
    value = palette.on(palette.sampler, bold=True) if acted else faint
    line.skip(1).right(stage_setting(stage), value, SETTING_WIDTH).skip(GAP)
    if stage.skipped is not None:
        return line.add(stage.skipped, faint).strip()
    before, after = count(stage.survivors_before), count(stage.survivors)
    flow = f"{before} → {after}" if before != after else after
    if not has_flow:
        return line.add(after if line.room < len(flow) else flow, soft).strip()
    line.right(flow, soft, FLOW_WIDTH)
    if has_bar:
        colours = (palette.sampler, palette.track, palette.ground)
        line.skip(GAP).extend(line_bar(left, BAR_WIDTH, *colours))
        cut = f"−{percent(stage.mass_cut)}" if stage.mass_cut else ""
        line.skip(GAP).right(cut, palette.on(palette.sampler), CUT_WIDTH)
    line.skip(GAP)
    change = f"{stage.entropy_before_bits:.2f} → {bits(stage.entropy_bits)}"
    if not line.fits(change, soft):
        line.fits(bits(stage.entropy_bits), soft)
    return line.strip()


def draw_strips(choice: Choice, width: int, palette: Palette) -> list[Strip]:
    """The draw in words, and the ribbon with its pointer; for a given token only the words."""
    line = Line(width, palette.on(palette.soft))
    strips = [parts(line, draw_words(choice, palette), gap=2).strip()]
    if choice.ribbon:
        strips.append(ribbon_strip(choice, width, palette))
        strips.append(pointer_strip(choice, width, palette))
    return strips


def draw_words(choice: Choice, palette: Palette) -> list[tuple[str, Style]]:
    """The draw as items: ``u = 0.3117``, ``falls in [0.000, 0.463)``, ``→ ␣Sydney``."""
    draw = choice.draw
    soft, amber = palette.on(palette.soft), palette.on(palette.sampler, bold=True)
    chosen = (f"→ {choice.chosen.label}", palette.on(palette.text, bold=True))
    if draw.how == "given":
        return [("given by you: nothing was drawn", soft)]
    interval = ""
    if draw.low is not None and draw.high is not None:
        interval = f"[{draw.low:.3f}, {draw.high:.3f})"
    if draw.how == "greedy":
        return [("greedy", amber), chosen, ("T = 0: the best, nothing is drawn", soft)]
    if draw.how == "forced":
        where = f"its interval {interval}" if interval else f"it was cut by {_cut(choice)}"
        return [("taken by you", amber), chosen, (where, soft)]
    items = [(f"u = {draw.u:.4f}", amber), (f"falls in {interval}", soft), chosen]
    if draw.attempt:
        items.append((f"attempt {draw.attempt}", soft))
    return items


def _cut(choice: Choice) -> str:
    return stage_name(choice.chosen.cut_by or "the sampler")


def headline(choice: Choice) -> list[str]:
    """What the panel's frame says: survivors and the entropy drawn from."""
    if choice.final_entropy_bits is None:
        return []
    survivors = choice.stages[-1].survivors if choice.stages else choice.vocab_size
    return [f"{count(survivors)} to draw from", bits(choice.final_entropy_bits)]
