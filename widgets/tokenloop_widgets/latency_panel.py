"""The panel of latency."""

from __future__ import annotations

from textual.strip import Strip

from tokenloop.records import LatencyHistory, StepRecord
from tokenloop_widgets.drawing.cells import safe
from tokenloop_widgets.drawing.latency import (
    headline,
    latency_strips,
    pass_strips,
    redraw_words,
)
from tokenloop_widgets.palette import Palette
from tokenloop_widgets.panel import Panel


class LatencyPanel(Panel):
    """The last pass by phase, decode beside prefill a token, the last steps.

    In an earlier token's moment: the pass that read that token, alone.
    """

    _history: LatencyHistory | None = None
    _then: StepRecord | None = None
    _placeholder = ""

    def show(
        self,
        history: LatencyHistory | None,
        *,
        then: StepRecord | None = None,
        placeholder: str = "no pass yet",
    ) -> None:
        """Show the passes.

        Args:
            history: the session's.
            then: an earlier token's record, where this is its moment.
            placeholder: said where nothing ran yet.
        """
        self._history, self._then, self._placeholder = history, then, placeholder
        if then is not None:
            words = headline(then.latency_ms, step=then.step > 0, then=True)
            self.title(f"latency · {safe(then.token.label)}", words)
        elif history is not None and history.last is not None:
            words = redraw_words(history) or headline(history.last, step=history.last_is_step)
            self.title("latency", words)
        else:
            self.title("latency")
        self.redraw()

    def draw(self, width: int, height: int, palette: Palette) -> list[Strip]:
        """The bar, the pair and the sparkline; an earlier token's pass has the bar alone."""
        if self._then is not None:
            return pass_strips(self._then.latency_ms, width, height, palette)
        return latency_strips(self._history, width, height, palette, placeholder=self._placeholder)
