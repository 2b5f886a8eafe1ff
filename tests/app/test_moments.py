"""What the panels say in each of the two moments, now and then."""

from __future__ import annotations

import pytest

from tests.app.driving import Driven, driven
from tokenloop_widgets import Panel


def panel_text(world: Driven, name: str) -> str:
    """A panel's frame and drawing."""
    panel = world.main.query_one(f"#{name}", Panel)
    drawn = [panel.render_line(row).text for row in range(panel.size.height)]
    return "\n".join([str(panel.border_title), *drawn, str(panel.border_subtitle)])


@pytest.mark.parametrize("size", [(140, 40), (80, 24)])
async def test_the_latency_of_an_earlier_moment_is_that_tokens_own(size: tuple[int, int]) -> None:
    async with driven(size) as world:
        name = "latency" if size[0] > 80 else "summary"
        await world.press("space")
        assert "decode" in panel_text(world, name)
        await world.press("left_square_bracket")  # the step's
        told = panel_text(world, name)
        assert "24.5 ms a token" in told
        assert "prefill" not in told
        assert "p50" not in told
        await world.press("left_square_bracket")  # a given token's
        told = panel_text(world, name)
        assert "61.0 ms for 5" in told
        assert "decode" not in told
        if name == "latency":
            assert "its pass: prefill of 5, 61.0 ms" in told


async def test_the_headline_says_what_the_last_pass_was() -> None:
    async with driven() as world:
        assert "last pass: prefill of 5, 61.0 ms" in panel_text(world, "latency")
        await world.press("space")
        assert "last step: 25.1 ms" in panel_text(world, "latency")
