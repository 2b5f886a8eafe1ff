"""The sampler as a funnel, read from top to bottom, and the draw."""

from __future__ import annotations

from textual.strip import Strip

from tokenloop.records import Choice
from tokenloop_widgets.drawing.cells import Line, fill_height, placeholder_strips
from tokenloop_widgets.drawing.draw import draw_strips
from tokenloop_widgets.drawing.figures import bits, count, perplexity
from tokenloop_widgets.drawing.funnel import (
    Columns,
    funnel_strips,
    header_strip,
    remark_strips,
)
from tokenloop_widgets.palette import Palette

LOW, HIGH, TALL = 3, 5, 8
"""Lines of the draw: with one ribbon; with two and what surprises; with tall ones."""


def sampler_strips(
    choice: Choice | None,
    width: int,
    height: int,
    palette: Palette,
    *,
    full: bool = False,
    placeholder: str = "",
) -> list[Strip]:
    """Draw the funnel and the draw.

    Where the height does not hold everything, the draw stays, then the stages that acted.

    Args:
        choice: what to draw, or ``None`` for the placeholder.
        width: in cells.
        height: in lines.
        palette: the colours.
        full: every stage with its reason, as far as there is room.
        placeholder: said where there is no choice.
    """
    soft = palette.on(palette.soft)
    blank = Line(width, soft).strip()
    if choice is None:
        return placeholder_strips(placeholder, width, height, soft)
    columns = Columns.fit(width, choice)
    low = LOW if choice.ribbon else 1
    stages = funnel_strips(choice, columns, width, height - low, palette, full=full)
    spare = height - len(stages) - low
    both = spare > HIGH - LOW
    remarks = remark_strips(choice, columns, width, palette)
    spare -= (HIGH - LOW) * both + 1
    said = [blank, *remarks[: spare - 2]] if remarks and spare > 2 else []
    spare -= len(said)
    draw = draw_strips(choice, width, palette, both=both, tall=both and spare > TALL - HIGH)
    room = max(0, height - len(draw))
    stages = [*stages, *said][:room]
    if len(stages) < room:
        stages.append(blank)
    if len(stages) < room and columns.flow:
        stages.insert(0, header_strip(columns, width, palette))
    return fill_height([*stages, *draw], width, height, soft)


def survivors(choice: Choice) -> int | None:
    """How many candidates the last stage left to draw from; ``None`` where no sampler ran."""
    if choice.final_entropy_bits is None:
        return None
    return choice.stages[-1].survivors if choice.stages else choice.vocab_size


def headline(choice: Choice) -> list[str]:
    """What the panel's frame says: survivors, the entropy drawn from, and its perplexity."""
    left, entropy = survivors(choice), choice.final_entropy_bits
    if left is None or entropy is None:
        return []
    return [f"{count(left)} to draw from", bits(entropy), f"perplexity {perplexity(entropy)}"]
