"""What the small windows share: a frame with a title, its keys below, and esc to leave."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from tokenloop.app.layout import arrange

if TYPE_CHECKING:
    from collections.abc import Callable

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


class Drawer(Dialog[Result]):
    """A window at the bottom of the screen; the panels move up so that none is half covered.

    Args:
        make_room: told how many rows the window takes, and 0 when it goes.
    """

    def __init__(self, make_room: Callable[[int], None]) -> None:
        super().__init__()
        self._make_room = make_room

    def on_resize(self, event: events.Resize) -> None:
        """Arrange for the new size, then take the room that the window turned out to need."""
        super().on_resize(event)
        self.call_after_refresh(self._take_room)

    def _take_room(self) -> None:
        self._make_room(self.query_one(".window").outer_size.height)

    def on_unmount(self) -> None:
        """Give the room back."""
        self._make_room(0)
