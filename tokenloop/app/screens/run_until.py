"""Run a number of tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input

from tokenloop.app.screens.dialog import Dialog, NoteLine, keys_line

if TYPE_CHECKING:
    from textual.app import ComposeResult


class RunUntilScreen(Dialog[int]):
    """Asks how many tokens to run; 0 is until the end of the text.

    Args:
        room: how many positions the context has left.
    """

    def __init__(self, room: int) -> None:
        super().__init__()
        self._room = room

    def compose(self) -> ComposeResult:
        """The number and what is wrong with it."""
        with Vertical(id="run-until", classes="window"):
            yield Input("20", id="steps", compact=True, max_length=9)
            yield NoteLine(
                keys_line("enter", "run", "empty", "until the end of the text", "esc", "back")
            )

    def on_mount(self) -> None:
        """Ready to type over the number."""
        self.query_one("#run-until").border_title = Content("run how many tokens?")
        self.query_one(Input).focus()

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Run, if the number is one."""
        event.stop()
        text = event.value.strip()
        if not text:
            self.dismiss(0)
        elif text.isascii() and text.isdigit() and 1 <= int(text) <= self._room:
            self.dismiss(int(text))
        else:
            self.note.say(f"a whole number from 1 to {self._room:,}, or nothing", "error")
