"""The top line of the screen."""

from __future__ import annotations

from textual.strip import Strip

from tokenloop.records import ModelInfo, Repetition
from tokenloop_widgets.drawing.cells import fill_height
from tokenloop_widgets.drawing.status import Status, status_strip
from tokenloop_widgets.palette import Palette
from tokenloop_widgets.panel import Panel


class StatusBar(Panel, can_focus=False):
    """tokenloop · model · device · seed · order · ready or working."""

    DEFAULT_CSS = """
    StatusBar { height: 1; border: none; padding: 0; }
    """

    _status = Status()

    def show(
        self,
        model: ModelInfo | None = None,
        *,
        seed: int | None = None,
        order: str | None = None,
        working: str | None = None,
        done: int = 0,
        total: int = 0,
        unit: str = "",
        repetition: Repetition | None = None,
    ) -> None:
        """Show the state.

        Args:
            model: what is loaded, or ``None``.
            seed: the sampler's, or ``None`` before there is a session.
            order: likewise.
            working: what is being done, or ``None`` at rest.
            done: its progress.
            total: all there is to do; 0 where not known.
            unit: of the progress ("tokens").
            repetition: that the end of the text repeats itself, or ``None``.
        """
        status = Status(model, seed, order, working, done, total, unit, repetition)
        if status != self._status:
            self._status = status
            self.redraw()

    def draw(self, width: int, height: int, palette: Palette) -> list[Strip]:
        """The line."""
        strip = status_strip(self._status, width, palette)
        return fill_height([strip], width, height, palette.on(palette.soft))
