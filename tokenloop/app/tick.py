"""A choice of yes or no that shows which it is without colour."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget


class Tick(Widget, can_focus=True):
    """``[✓] label`` or ``[ ] label``; space, enter or a click turns it.

    Args:
        label: plain text.
        value: whether it is ticked.
    """

    ALLOW_SELECT = False
    DEFAULT_CSS = """
    Tick { height: 1; width: auto; &:focus { background: $foreground; color: $background; } }
    """
    BINDINGS: ClassVar[list[BindingType]] = [Binding("space,enter", "turn", "turn", show=False)]

    class Turned(Message):
        """The choice was changed."""

        def __init__(self, value: bool) -> None:
            super().__init__()
            self.value = value

    value: reactive[bool] = reactive(False)

    def __init__(self, label: str, value: bool, *, id: str | None = None) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self._text = label
        self.set_reactive(Tick.value, value)

    def render(self) -> Content:
        """The box and the label."""
        return Content(f"[{'✓' if self.value else ' '}] {self._text}")

    def action_turn(self) -> None:
        """Yes becomes no."""
        self.value = not self.value
        self.post_message(self.Turned(self.value))

    def on_click(self) -> None:
        """As the keys do."""
        self.action_turn()
