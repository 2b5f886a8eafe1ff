"""What the small windows share: a frame with a title, its keys below, and esc to leave."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from tokenloop.app.layout import arrange

if TYPE_CHECKING:
    from textual import events

Result = TypeVar("Result")


class Dialog(ModalScreen[Result]):
    """A window above the panels; esc leaves it with no result."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "back", show=False)]

    def on_resize(self, event: events.Resize) -> None:
        """Arrange for the new size."""
        arrange(self, event.size)

    def action_leave(self) -> None:
        """Close without a result."""
        self.dismiss(None)
