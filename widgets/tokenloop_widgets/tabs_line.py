"""A line of names, one of them chosen."""

from __future__ import annotations

from collections.abc import Sequence

from textual.strip import Strip

from tokenloop_widgets.drawing.cells import fill_height
from tokenloop_widgets.drawing.tabs import tabs_strip
from tokenloop_widgets.palette import Palette
from tokenloop_widgets.panel import Panel


class TabsLine(Panel, can_focus=False):
    """Says which of several things is shown."""

    DEFAULT_CSS = """
    TabsLine { height: 1; border: none; padding: 0; }
    """

    _names: Sequence[str] = ()
    _chosen = 0

    def show(self, names: Sequence[str], chosen: int) -> None:
        """Show these names.

        Args:
            names: all of them.
            chosen: index of the chosen one.
        """
        self._names, self._chosen = tuple(names), chosen
        self.redraw()

    def draw(self, width: int, height: int, palette: Palette) -> list[Strip]:
        """The line."""
        strip = tabs_strip(self._names, self._chosen, width, palette)
        return fill_height([strip], width, height, palette.on(palette.soft))
