"""Two orders side by side: the same logits and the same luck through two chains."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from tokenloop.app.screens.laboratory.chains import chains_for
from tokenloop.app.screens.laboratory.inquiry import Inquiry
from tokenloop.app.screens.laboratory.view_screen import ViewScreen
from tokenloop.records import Comparison
from tokenloop_widgets import ComparisonPanel, Key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tokenloop.app.conductor import Conductor
    from tokenloop.sampling.settings import SamplerSettings


class OrdersScreen(ViewScreen):
    """Two chains; each side may be given another one.

    Args:
        conductor: as for :class:`ViewScreen`.
        keymap: as for :class:`ViewScreen`.
        own: the person's own presets, by name.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("o", "leave", "back", show=False, id="orders"),
        Binding("tab,shift+tab", "side", "other side", show=False, priority=True),
        Binding("left,h", "choose(-1)", "chain before", show=False),
        Binding("right,l", "choose(1)", "next chain", show=False),
    ]

    def __init__(
        self,
        conductor: Conductor,
        keymap: dict[str, str],
        own: Mapping[str, SamplerSettings],
    ) -> None:
        super().__init__(conductor, keymap)
        self.panel: ComparisonPanel = ComparisonPanel(id="orders")
        self._own = own
        self._chosen = [0, 1]
        self._side = 0
        self._inquiry = Inquiry(conductor, "comparison", Comparison)

    def keys(self) -> list[Key]:
        """Which chains, then the dials."""
        return [
            Key("tab", "other side", "side"),
            Key("←→", "other chain", "choose(1)"),
            Key("↑↓", "candidate"),
            self.command_key("watch", "pin", "watch"),
            self.command_key("roll", "roll", "turn('roll')"),
            *self.dial_keys(),
        ]

    def waits(self) -> bool:
        """Until there are rows."""
        return self._inquiry.blank

    def follow(self) -> None:
        """Ask for both chains on what is held, and draw the answer."""
        view = self.conductor.view()
        choice = view.snapshot.choice if view.snapshot else None
        if view.snapshot is None or choice is None:
            self._inquiry.drop()
            self.panel.show(None, placeholder=view.placeholder)
            return
        chains = chains_for(view.snapshot.settings, self._own)
        left, right = ((chains[i].name, chains[i].settings) for i in self._chosen)
        self._inquiry.want((left, right), choice, lambda engine: engine.compare(left, right))
        names = f"{left[0]} | {right[0]}"
        self.panel.show(
            self._inquiry.answer,
            side=self._side,
            placeholder=f"{names} · {self._inquiry.placeholder}",
        )

    def action_side(self) -> None:
        """Choose for the other side."""
        self._side = 1 - self._side
        self.follow()

    def action_choose(self, by: int) -> None:
        """Give the side another chain."""
        number = len(chains_for(self.conductor.settings, self._own))
        self._chosen[self._side] = (self._chosen[self._side] + by) % number
        self.follow()

    def on_rows_panel_pressed(self, event: ComparisonPanel.Pressed) -> None:
        """Enter takes the highlighted candidate."""
        event.stop()
        self.take(self.highlighted_id)
