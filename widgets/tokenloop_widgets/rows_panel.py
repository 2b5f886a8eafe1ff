"""A panel whose drawing is a list of rows: one of them may be highlighted, and they scroll."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Click, MouseScrollDown, MouseScrollUp
from textual.message import Message

from tokenloop.records import Token
from tokenloop_widgets.panel import Panel

WHEEL_ROWS = 3

ROW_KEYS: list[BindingType] = [
    Binding("up,k", "move(-1)", "up", show=False, id="candidates.up"),
    Binding("down,j", "move(1)", "down", show=False, id="candidates.down"),
    Binding("pageup", "page(-1)", "page up", show=False, id="candidates.page_up"),
    Binding("pagedown", "page(1)", "page down", show=False, id="candidates.page_down"),
    Binding("home", "home", "first", show=False, id="candidates.home"),
    Binding("end", "end", "last", show=False, id="candidates.end"),
    Binding("enter", "press", "take", show=False, id="candidates.take"),
]
"""The same ids wherever there are rows, so that a person's own keys hold everywhere."""


class RowsPanel(Panel):
    """Keeps a cursor and a scroll position over ``row_count`` rows, ``body`` of them in sight."""

    BINDINGS: ClassVar[list[BindingType]] = ROW_KEYS

    @dataclass
    class Moved(Message):
        """The cursor stands on another row."""

    @dataclass
    class Pressed(Message):
        """Enter was pressed on the highlighted row, or on none."""

    _top = 0
    _cursor: int | None = None

    @property
    def highlighted(self) -> Token | None:
        """The token of the cursor's row."""
        return None

    @property
    def row_count(self) -> int:
        """How many rows there are."""
        return 0

    @property
    def body(self) -> int:
        """How many rows are in sight."""
        return max(1, self.size.height)

    @property
    def head(self) -> int:
        """How many lines stand above the rows."""
        return 0

    @property
    def first_row(self) -> int:
        """Where the cursor starts from when it is first moved."""
        return -1

    def action_move(self, by: int) -> None:
        """Move the cursor by rows."""
        start = self.first_row if self._cursor is None else self._cursor
        self.move_to(start + by)

    def action_page(self, by: int) -> None:
        """Move the cursor by a page."""
        start = max(0, self.first_row) if self._cursor is None else self._cursor
        self.move_to(start + by * max(1, self.body - 1))

    def action_home(self) -> None:
        """Move the cursor to the first row."""
        self.move_to(0)

    def action_end(self) -> None:
        """Move the cursor to the last row at hand."""
        self.move_to(self.row_count - 1)

    def action_press(self) -> None:
        """Say that the highlighted row is wanted."""
        self.post_message(self.Pressed())

    def move_to(self, row: int) -> None:
        """Put the cursor on a row and keep it in sight."""
        if not self.row_count:
            return
        self._cursor = max(0, min(row, self.row_count - 1))
        self.keep_in_sight()
        self.post_message(self.Moved())
        self.redraw()

    def keep_in_sight(self) -> None:
        """Scroll no further than the rows go, and so that the cursor's row shows."""
        self._top = max(0, min(self._top, self.row_count - self.body))
        if self._cursor is None:
            return
        self._cursor = max(0, min(self._cursor, self.row_count - 1))
        self._top = max(min(self._top, self._cursor), self._cursor - self.body + 1)

    def scroll_rows(self, by: int) -> None:
        """Scroll the window; the cursor stays on its row."""
        self._top = max(0, min(self._top + by, self.row_count - self.body))
        self.redraw()

    def row_at(self, y: int) -> int | None:
        """The row on a line of the drawing, if one is there."""
        row = y - self.head + self._top
        return row if 0 <= y - self.head < self.body and row < self.row_count else None

    def on_click(self, event: Click) -> None:
        """Highlight the row, or take it where it is highlighted already."""
        offset = event.get_content_offset(self)
        row = None if offset is None else self.row_at(offset.y)
        if row is None:
            return
        if row == self._cursor:
            self.action_press()
        else:
            self.move_to(row)

    def on_resize(self) -> None:
        """Keep the cursor in sight (Textual calls the panel's own handler too)."""
        self.keep_in_sight()

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        """Scroll on."""
        self.scroll_rows(WHEEL_ROWS)
        event.stop()

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        """Scroll back."""
        self.scroll_rows(-WHEEL_ROWS)
        event.stop()
