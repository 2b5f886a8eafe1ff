"""The watch list in full."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from tokenloop.app.screens.laboratory.view_screen import ViewScreen
from tokenloop_widgets import Key, WatchPanel

if TYPE_CHECKING:
    from tokenloop.app.conductor import Conductor


class WatchScreen(ViewScreen):
    """Each pinned token's rank and probabilities at every position so far.

    Args:
        conductor: as for :class:`ViewScreen`.
        keymap: as for :class:`ViewScreen`.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("W", "leave", "back", show=False, id="watch_list"),
        Binding("space,right,l", "turn('step')", "step", show=False, id="step"),
        Binding("left,h,backspace", "turn('rewind')", "rewind", show=False, id="rewind"),
    ]

    def __init__(self, conductor: Conductor, keymap: dict[str, str]) -> None:
        super().__init__(conductor, keymap)
        self.panel: WatchPanel = WatchPanel(id="watch-list")

    def keys(self) -> list[Key]:
        """The loop goes on under the list."""
        return [
            self.command_key("step", "step", "turn('step')"),
            self.command_key("rewind", "rewind", "turn('rewind')"),
            Key("↑↓", "token"),
            self.command_key("watch", "unpin, or pin the marked draw", "watch"),
            *self.dial_keys(),
        ]

    def follow(self) -> None:
        """Draw the snapshot's watch list."""
        snapshot = self.conductor.snapshot
        pin = self.command_key("watch", "", "").key
        hint = f"nothing is pinned: {pin} pins the highlighted candidate, or the marked draw"
        if snapshot is None:
            self.panel.show((), 0, placeholder=self.conductor.view().placeholder)
        else:
            self.panel.show(snapshot.watched, len(snapshot.prefix), placeholder=hint)

    def action_turn(self, dial: str) -> None:
        """A step or a rewind, too: the plots grow and shrink with the text."""
        self.hush()
        if dial == "step":
            self.conductor.step()
        elif dial == "rewind":
            self.conductor.rewind()
        super().action_turn(dial)
