"""The bottom line of the screen.

Textual's own footer scrolls, which cuts words at the edge; this one leaves whole items out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.events import Click
from textual.message import Message
from textual.strip import Strip

from tokenloop_widgets.drawing.cells import fill_height, width_of
from tokenloop_widgets.drawing.keys import Key, fitting, keys_strip
from tokenloop_widgets.palette import Palette
from tokenloop_widgets.panel import Panel


class KeyBar(Panel, can_focus=False):
    """Keys and what they do; a click asks for the key's action."""

    DEFAULT_CSS = """
    KeyBar { height: 1; border: none; padding: 0; }
    """

    _keys: Sequence[Key] = ()

    @dataclass
    class Pressed(Message):
        """A key's item was clicked."""

        action: str

    def show(self, keys: Sequence[Key]) -> None:
        """Show these keys, the most wanted first."""
        self._keys = tuple(keys)
        self.redraw()

    def draw(self, width: int, height: int, palette: Palette) -> list[Strip]:
        """The line."""
        strip = keys_strip(self._keys, width, palette)
        return fill_height([strip], width, height, palette.on(palette.soft))

    def on_click(self, event: Click) -> None:
        """Say which action was clicked."""
        offset = event.get_content_offset(self)
        if offset is None:
            return
        for column, key in fitting(self._keys, self.size.width):
            if column <= offset.x < column + width_of(f"{key.key} {key.word}") and key.action:
                self.post_message(self.Pressed(key.action))
