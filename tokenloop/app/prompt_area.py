"""A field for a text of several lines in which enter means go."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea

MAX_PASTE = 200_000
"""Characters. An editor of lines takes seconds from about a million on; no context holds that."""


class PromptArea(TextArea):
    """A text field: enter submits, ctrl+j (or shift+enter, where it arrives) is a new line."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "submit", "go", priority=True, show=False),
        Binding("ctrl+j,shift+enter,alt+enter", "new_line", "new line", priority=True, show=False),
    ]

    class Submitted(Message):
        """Enter was pressed."""

        def __init__(self, area: PromptArea) -> None:
            super().__init__()
            self.area = area

        @property
        def control(self) -> PromptArea:
            """The field."""
            return self.area

    class Left(Message):
        """The cursor was moved below the last line."""

    class TooLong(Message):
        """A paste was refused; the text is as it was."""

        def __init__(self, length: int) -> None:
            super().__init__()
            self.length = length

    def action_submit(self) -> None:
        """Say that the text is complete."""
        self.post_message(self.Submitted(self))

    def action_new_line(self) -> None:
        """Break the line at the cursor."""
        self.insert("\n")

    def action_cursor_down(self, select: bool = False) -> None:
        """One line down; below the last one the field is left."""
        if not select and self.cursor_at_last_line:
            self.post_message(self.Left())
        else:
            super().action_cursor_down(select)

    def on_paste(self, event: events.Paste) -> None:
        """Refuse a paste that is too long; any other goes to the editor's own handler."""
        if len(event.text) > MAX_PASTE:
            event.stop()
            event.prevent_default()
            self.post_message(self.TooLong(len(event.text)))
