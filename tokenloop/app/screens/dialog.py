"""What the small windows share: a frame with a title, its keys below, and esc to leave."""

from __future__ import annotations

from typing import ClassVar, TypeVar

from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

Result = TypeVar("Result")


class Dialog(ModalScreen[Result]):
    """A window above the panels; esc leaves it with no result."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "back", show=False)]

    def action_leave(self) -> None:
        """Close without a result."""
        self.dismiss(None)
