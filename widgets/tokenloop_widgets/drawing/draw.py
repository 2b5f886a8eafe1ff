"""The draw in words and on its ribbon, and how surprising it is."""

from __future__ import annotations

from rich.style import Style
from textual.strip import Strip

from tokenloop.records import Choice
from tokenloop_widgets.drawing.cells import Line, parts, safe, width_of
from tokenloop_widgets.drawing.figures import perplexity, stage_name, surprisal
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

RIBBON_NAME_WIDTH = 7


def draw_strips(
    choice: Choice, width: int, palette: Palette, *, both: bool, tall: bool = False
) -> list[Strip]:
    """The draw in words, and the ribbon with its pointer; for a given token only the words.

    Args:
        choice: what to draw.
        width: in cells.
        palette: the colours.
        both: how surprising it is and the model's ribbon too, above the final one.
        tall: ribbons of two lines, and air between.
    """
    soft = palette.on(palette.soft)
    strips = [parts(Line(width, soft), draw_words(choice, palette), gap=2).strip()]
    if both:
        strips.append(measures_strip(choice, width, palette))
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
    if draw.how == "forced":
        cut = stage_name(choice.chosen.cut_by or "the sampler")
        where = f"its interval {interval}" if interval else f"it was cut by {cut}"
        return [("taken by you", amber), chosen, (where, soft)]
    if draw.how == "greedy":
        why = "T = 0: the best" if draw.attempt else "T = 0: the best, nothing is drawn"
        items = [("greedy", amber), chosen, (why, soft)]
    else:
        drawn = f"u = {draw.u:.4f}" if draw.u is not None else "drawn"
        items = [(drawn, amber), (f"falls in {interval}" if interval else "", soft), chosen]
    if draw.attempt:
        items.append((f"attempt {draw.attempt}", soft))
    return items


def measures_strip(choice: Choice, width: int, palette: Palette) -> Strip:
    """``perplexity 11.9 → 2.75   surprisal 1.47 → 1.07 bits``: the model's, then the final one."""
    line = Line(width, palette.on(palette.soft))
    final = choice.final_entropy_bits
    after = None if final is None else perplexity(final)
    _pair(line, "perplexity", perplexity(choice.entropy_bits), after, palette)
    final_p = choice.chosen.final_p
    after = None if final_p is None or choice.chosen.cut_by else surprisal(final_p)
    _pair(line, "surprisal", surprisal(choice.chosen.p), after, palette)
    return line.strip()


def _pair(line: Line, name: str, before: str, after: str | None, palette: Palette) -> None:
    """A figure of the model's and what the sampler makes of it, where both fit."""
    gap = 3 if line.at else 0
    arrow = "" if after is None else " → "
    if after is not None:
        before = before.removesuffix(" bits")
    if line.room < gap + width_of(f"{name} {before}{arrow}{after or ''}"):
        return
    line.skip(gap).add(f"{name} ", palette.on(palette.soft))
    line.add(before, palette.on(palette.model)).add(arrow, palette.on(palette.soft))
    line.add(after or "", palette.on(palette.sampler, bold=True))
