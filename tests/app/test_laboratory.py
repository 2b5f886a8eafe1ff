"""The laboratory's views: what their keys ask, what they draw, and how they are left."""

from __future__ import annotations

import pytest

from tests.app.driving import Driven, driven
from tokenloop_widgets import Panel

OPENERS = {
    "v": "through",
    "slash": "found",
    "o": "orders",
    "d": "draws",
    "f": "sweep",
    "W": "watch-list",
}


def drawn(world: Driven) -> str:
    """The open view's frame and drawing."""
    panel = world.app.screen.query_one(f"#{world.app.screen.panel.id}", Panel)
    lines = [panel.render_line(row).text for row in range(panel.size.height)]
    return "\n".join([str(panel.border_title), *lines, str(panel.border_subtitle)])


@pytest.mark.parametrize("key", OPENERS)
async def test_a_key_opens_its_view_and_esc_leaves_it(key: str) -> None:
    async with driven() as world:
        await world.press(key)
        assert world.app.screen.panel.id == OPENERS[key]
        await world.press("escape")
        assert world.app.screen is world.main
