"""Through the stages: every candidate's probability after every stage, now or then."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from tokenloop.app.screens.laboratory.view_screen import ViewScreen
from tokenloop_widgets import Key, ThroughPanel

if TYPE_CHECKING:
    from tokenloop.app.conductor import Conductor


class ThroughScreen(ViewScreen):
    """Candidates as rows, stages as columns, of what the main screen shows: now or an earlier one.

    Args:
        conductor: as for :class:`ViewScreen`.
        keymap: as for :class:`ViewScreen`.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("v", "leave", "back", show=False, id="through"),
    ]

    def __init__(self, conductor: Conductor, keymap: dict[str, str]) -> None:
        super().__init__(conductor, keymap)
        self.panel: ThroughPanel = ThroughPanel(id="through")

    def keys(self) -> list[Key]:
        """Both ways to scroll, then the dials."""
        return [
            Key("↑↓", "candidate"),
            Key("←→", "stage"),
            Key("a", "all stages", "every"),
            Key("enter", "take", "take_highlighted"),
            self.command_key("watch", "pin", "watch"),
            *self.dial_keys(),
        ]

    def follow(self) -> None:
        """Draw the choice of the main screen."""
        view = self.conductor.view()
        name = "through the stages"
        if view.then_record is not None:
            name = f"how {view.then_record.token.label} was chosen, through the stages"
        self.panel.show(
            view.choice, name=name, after=view.token_before, placeholder=view.placeholder
        )

    def action_every(self) -> None:
        """Show the stages that did nothing, or not."""
        self.panel.action_every()

    def action_take_highlighted(self) -> None:
        """Force the highlighted candidate."""
        self.take(self.highlighted_id)

    def on_rows_panel_pressed(self, event: ThroughPanel.Pressed) -> None:
        """Enter."""
        event.stop()
        self.action_take_highlighted()

    def on_through_panel_need_more(self, event: ThroughPanel.NeedMore) -> None:
        """Show more candidates."""
        self.conductor.show(event.count)
