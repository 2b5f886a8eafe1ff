"""The panel that stands for three where there is no room for them."""

from __future__ import annotations

from dataclasses import dataclass

from textual.events import Click
from textual.message import Message
from textual.strip import Strip

from tokenloop.records import CacheRecord, Choice, Latency, LatencyHistory
from tokenloop_widgets.drawing.summary import summary_strips
from tokenloop_widgets.palette import Palette
from tokenloop_widgets.panel import Panel

PANELS = ("sampler", "cache", "latency")


class SummaryPanel(Panel, can_focus=False):
    """One line each for sampler, KV cache and latency; a click asks for the panel in full."""

    _choice: Choice | None = None
    _cache: CacheRecord | None = None
    _history: LatencyHistory | None = None
    _then: Latency | None = None

    @dataclass
    class Pressed(Message):
        """A line was clicked; ``panel`` is sampler, cache or latency."""

        panel: str

    def show(
        self,
        choice: Choice | None,
        cache: CacheRecord | None,
        history: LatencyHistory | None,
        *,
        then: Latency | None = None,
    ) -> None:
        """Show the three (``None`` where there is nothing yet).

        Args:
            choice: the held distribution, or an earlier token's record.
            cache: the cache now, or after that token's pass.
            history: the session's passes.
            then: that token's pass, where this is an earlier moment.
        """
        self._choice, self._cache = choice, cache
        self._history, self._then = history, then
        self.title("sampler · KV cache · latency", "their number opens one in full")
        self.redraw()

    def draw(self, width: int, height: int, palette: Palette) -> list[Strip]:
        """The three lines."""
        return summary_strips(
            self._choice, self._cache, self._history, width, height, palette, then=self._then
        )

    def on_click(self, event: Click) -> None:
        """Say whose line was clicked."""
        offset = event.get_content_offset(self)
        if offset is not None and 0 <= offset.y < len(PANELS):
            self.post_message(self.Pressed(PANELS[offset.y]))
