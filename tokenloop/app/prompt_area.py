"""The fields for texts of several lines: what is pasted into them is safe and not too long."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import TextArea

from tokenloop.app.safety import UNSAFE

MAX_PASTE = 200_000
"""Characters. An editor of lines takes seconds from about a million on; no context holds that."""

_KEPT = "\n\r\t"


class TextField(TextArea):
    """A text editor that takes no control characters and nothing endless from a paste."""

    class Noted(Message):
        """There is something to say about a paste."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def on_paste(self, event: events.Paste) -> None:
        """Leave out what can't be shown, refuse what is too long; then the editor takes it."""
        if len(event.text) > MAX_PASTE:
            event.stop()
            event.prevent_default()
            self._note(f"{len(event.text):,} characters are too many to paste: {MAX_PASTE:,}")
            return
        unsafe = [found for found in UNSAFE.findall(event.text) if found not in _KEPT]
        if unsafe:
            event.text = UNSAFE.sub(lambda found: found[0] if found[0] in _KEPT else "", event.text)
            what = "character was" if len(unsafe) == 1 else "characters were"
            self._note(f"{len(unsafe):,} unprintable {what} left out of the paste")

    def _note(self, text: str) -> None:
        # After what the editor says of the change itself, which puts the keys back in the line.
        self.call_later(self.post_message, self.Noted(text))


class PromptArea(TextField):
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
