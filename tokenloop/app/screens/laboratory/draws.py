"""Many draws from what is held, against the distribution on display."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from tokenloop.app.screens.laboratory.inquiry import Inquiry
from tokenloop.app.screens.laboratory.view_screen import ViewScreen
from tokenloop.records import DrawsRecord
from tokenloop_widgets import DrawsPanel, Key

if TYPE_CHECKING:
    from tokenloop.app.conductor import Conductor

COUNTS = (1_000, 10_000, 100_000)
GREEDY = "greedy: nothing is drawn at T = 0; + is warmer"


class DrawsScreen(ViewScreen):
    """A histogram of many draws, and whether it agrees with the display.

    Args:
        conductor: as for :class:`ViewScreen`.
        keymap: as for :class:`ViewScreen`.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("d", "leave", "back", show=False, id="draws"),
        *(
            Binding(str(number), f"draw({count})", f"{count:,} draws", show=False)
            for number, count in enumerate(COUNTS, start=1)
        ),
    ]

    def __init__(self, conductor: Conductor, keymap: dict[str, str]) -> None:
        super().__init__(conductor, keymap)
        self.panel: DrawsPanel = DrawsPanel(id="draws")
        self._count = COUNTS[0]
        self._inquiry = Inquiry(conductor, "draws", DrawsRecord)

    def keys(self) -> list[Key]:
        """How many, then the dials."""
        return [
            *(
                Key(str(number), f"{count // 1000}k draws", f"draw({count})")
                for number, count in enumerate(COUNTS, start=1)
            ),
            Key("↑↓", "token"),
            self.command_key("watch", "pin", "watch"),
            *self.dial_keys(),
        ]

    def waits(self) -> bool:
        """Until there are rows."""
        return self._inquiry.blank

    def follow(self) -> None:
        """Ask for the draws from what is held, and draw the answer."""
        view = self.conductor.view()
        choice = view.snapshot.choice if view.snapshot else None
        if choice is None or choice.draw.u is None:
            self._inquiry.drop()
            self.panel.show(None, placeholder=GREEDY if choice else view.placeholder)
            return
        count = self._count
        self._inquiry.want(count, choice, lambda engine: engine.draws(count))
        inquiry = self._inquiry
        self.panel.show(inquiry.answer, inquiry.answered_of, placeholder=inquiry.placeholder)

    def action_draw(self, count: int) -> None:
        """Draw so many."""
        self._count = count
        self.follow()

    def on_rows_panel_pressed(self, event: DrawsPanel.Pressed) -> None:
        """Enter takes the highlighted token."""
        event.stop()
        self.take(self.highlighted_id)
