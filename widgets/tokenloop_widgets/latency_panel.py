"""The panel of latency."""

from __future__ import annotations

from textual.strip import Strip

from tokenloop.records import Latency, LatencyHistory, Token
from tokenloop_widgets.drawing.cells import safe
from tokenloop_widgets.drawing.figures import milliseconds
from tokenloop_widgets.drawing.latency import latency_strips
from tokenloop_widgets.palette import Palette
from tokenloop_widgets.panel import Panel


class LatencyPanel(Panel):
    """The last pass by phase, decode beside prefill a token, the last steps."""

    _history: LatencyHistory | None = None
    _last: Latency | None = None
    _placeholder = ""

    def show(
        self,
        history: LatencyHistory | None,
        *,
        last: Latency | None = None,
        then: Token | None = None,
        placeholder: str = "no pass yet",
    ) -> None:
        """Show the passes.

        Args:
            history: the session's.
            last: the pass to split by phase (an earlier token's, or the last one of all); by
                default the last one of all.
            then: the token whose pass ``last`` is, where this is an earlier moment.
            placeholder: said where nothing ran yet.
        """
        self._history, self._last, self._placeholder = history, last, placeholder
        name = "latency" if then is None else f"latency · {safe(then.label)}"
        shown = last or (history and history.last) or None
        self.title(name, f"{milliseconds(shown.total)} last step" if shown else "")
        self.redraw()

    def draw(self, width: int, height: int, palette: Palette) -> list[Strip]:
        """The bar, the pair and the sparkline."""
        return latency_strips(
            self._history,
            width,
            height,
            palette,
            last=self._last,
            placeholder=self._placeholder,
        )
