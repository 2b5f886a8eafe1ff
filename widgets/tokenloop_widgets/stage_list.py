"""The list of the sampler's stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from textual.events import Click, MouseScrollDown, MouseScrollUp
from textual.message import Message
from textual.strip import Strip

from tokenloop.records import Choice
from tokenloop_widgets.drawing.stage_list import Cursor, StageRow, first_row, stage_list_strips
from tokenloop_widgets.palette import Palette
from tokenloop_widgets.panel import Panel


class StageList(Panel):
    """A row a stage; it shows where the cursor is, and says where it is wanted."""

    DEFAULT_CSS = """
    StageList { border: none; padding: 0; &:focus { border: none; } }
    """

    @dataclass
    class Wanted(Message):
        """The cursor is wanted in another row."""

        row: int

    _rows: Sequence[StageRow] = ()
    _cursor = Cursor()
    _choice: Choice | None = None

    def show(self, rows: Sequence[StageRow], cursor: Cursor, choice: Choice | None = None) -> None:
        """Show the rows.

        Args:
            rows: all of them.
            cursor: the row and the cell that keys act on.
            choice: what is held now: its draw stands below, where there is room.
        """
        if choice is not self._choice or (rows, cursor) != (self._rows, self._cursor):
            self._rows, self._cursor, self._choice = rows, cursor, choice
            self.redraw()

    def draw(self, width: int, height: int, palette: Palette) -> list[Strip]:
        """The rows around the cursor."""
        return stage_list_strips(
            self._rows, self._cursor, width, height, palette, choice=self._choice
        )

    def on_click(self, event: Click) -> None:
        """Say which row was clicked."""
        offset = event.get_content_offset(self)
        if offset is not None:
            top = first_row(len(self._rows), self._cursor.row, self.size.height)
            self._want(top + offset.y)

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        """A row on."""
        self._want(self._cursor.row + 1)
        event.stop()

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        """A row back."""
        self._want(self._cursor.row - 1)
        event.stop()

    def _want(self, row: int) -> None:
        if 0 <= row < len(self._rows):
            self.post_message(self.Wanted(row))
