"""The panel of the sampler."""

from __future__ import annotations

from textual.strip import Strip

from tokenloop.records import Choice, Token
from tokenloop_widgets.drawing.cells import safe
from tokenloop_widgets.drawing.sampler import headline, sampler_strips
from tokenloop_widgets.palette import Palette
from tokenloop_widgets.panel import Panel


class SamplerPanel(Panel):
    """The funnel from the model's candidates to the draw, with the ribbon it falls on."""

    _choice: Choice | None = None
    _placeholder = ""
    _full = False

    def show_full(self, full: bool) -> None:
        """Every stage with its reason, or those that are off by name only."""
        if full is not self._full:
            self._full = full
            self.redraw()

    def show(
        self,
        choice: Choice | None,
        *,
        then: Token | None = None,
        placeholder: str = "no prompt yet",
    ) -> None:
        """Show a choice.

        Args:
            choice: the held distribution, or an earlier token's record.
            then: the token that was chosen, where this is an earlier moment.
            placeholder: said where ``choice`` is ``None``.
        """
        self._choice, self._placeholder = choice, placeholder
        name = "sampler" if then is None else f"sampler · {safe(then.label)}"
        self.title(name, *(headline(choice) if choice else ()))
        self.redraw()

    def draw(self, width: int, height: int, palette: Palette) -> list[Strip]:
        """The funnel, the draw and its ribbon."""
        return sampler_strips(
            self._choice,
            width,
            height,
            palette,
            full=self._full,
            placeholder=self._placeholder,
        )
