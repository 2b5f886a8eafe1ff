"""What the widgets look like: text for every moment and size, a few pictures in colour."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from syrupy.extensions.image import SVGImageSnapshotExtension

from tests.widgets.strips import lines
from tokenloop_widgets.drawing.cache import cache_strips
from tokenloop_widgets.drawing.candidates import Marks as TableMarks
from tokenloop_widgets.drawing.candidates import candidates_strips
from tokenloop_widgets.drawing.latency import latency_strips, pass_strips
from tokenloop_widgets.drawing.sampler import sampler_strips
from tokenloop_widgets.drawing.status import Status, status_strip
from tokenloop_widgets.drawing.summary import summary_strips
from tokenloop_widgets.drawing.text import Marks, text_strips
from tokenloop_widgets.drawing.text_layout import TextLayout
from tokenloop_widgets.gallery import PAGES, Gallery

if TYPE_CHECKING:
    from syrupy.assertion import SnapshotAssertion

    from tokenloop_widgets.palette import Palette
    from tokenloop_widgets.recorded import Moment, Recording

SIZES = [(66, 20), (46, 11), (30, 6)]


def drawings(moment: Moment, width: int, height: int, palette: Palette) -> dict[str, list[str]]:
    """Every panel's text at one moment."""
    record = moment.record
    choice = record or moment.choice
    cache = record.cache if record else moment.cache
    layout = TextLayout(width, probabilities=True)
    layout.update(moment.prefix)
    ghost = moment.choice.chosen.label if moment.choice and record is None else None
    marks = Marks(cursor=record.position if record else None, ghost=ghost, hint="▸ hint")
    then = record.latency_ms if record else None
    passes = (
        pass_strips(then, width, height, palette)
        if then
        else latency_strips(moment.latency, width, height, palette)
    )
    return {
        "text": lines(text_strips(layout, moment.prefix, height, palette, marks=marks)),
        "candidates": lines(
            candidates_strips(choice, width, height, palette, marks=TableMarks(highlighted=1))
        ),
        "sampler": lines(sampler_strips(choice, width, height, palette)),
        "cache": lines(cache_strips(cache, width, height, palette, next_step=record is None)),
        "latency": lines(passes),
        "summary": lines(
            summary_strips(choice, cache, moment.latency, width, 3, palette, then=then)
        ),
    }


@pytest.mark.parametrize("size", SIZES, ids=lambda size: f"{size[0]}x{size[1]}")
@pytest.mark.parametrize("moment", range(9))
def test_text(
    moment: int,
    size: tuple[int, int],
    recording: Recording,
    dark: Palette,
    snapshot: SnapshotAssertion,
) -> None:
    drawn = drawings(recording.moments[moment], *size, dark)
    status = status_strip(Status(recording.model, recording.seed, "llamacpp"), size[0], dark)
    pages = [f"── {name}\n" + "\n".join(text) for name, text in drawn.items()]
    assert "\n".join([*pages, status.text]) == snapshot


@pytest.mark.parametrize(
    ("page", "theme"),
    [
        *[(page, "dark") for page in ("text", "candidates", "sampler", "cache", "latency")],
        ("candidates", "light"),
    ],
)
async def test_colour(
    page: str, theme: str, recording: Recording, snapshot: SnapshotAssertion
) -> None:
    app = Gallery(recording)
    app.animation_level = "none"
    async with app.run_test(size=(90, 24)) as pilot:
        await pilot.press(*["tab"] * PAGES.index(page), *["right"] * 5)
        if theme == "light":
            await pilot.press("t")
        await pilot.pause()
        picture = app.export_screenshot(simplify=True)
    assert clean(picture) == snapshot(extension_class=SVGImageSnapshotExtension)


def clean(svg: str) -> str:
    """Without the fonts from a network, and with a name that is the same each time."""
    svg = re.sub(r"@font-face \{.*?\}", "", svg, flags=re.DOTALL)
    return re.sub(r"terminal-\d+-", "terminal-", svg)
