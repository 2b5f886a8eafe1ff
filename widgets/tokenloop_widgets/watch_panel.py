"""The panel of the watch list."""

from __future__ import annotations

from collections.abc import Sequence

from textual.strip import Strip

from tokenloop.records import Watched
from tokenloop_widgets.drawing.figures import count
from tokenloop_widgets.drawing.watch import (
    Layout,
    header_height,
    tokens_in_sight,
    watch_strips,
)
from tokenloop_widgets.palette import Palette
from tokenloop_widgets.rows_panel import RowsPanel


class WatchPanel(RowsPanel):
    """The pinned tokens' rank and probabilities over the positions so far."""

    _watched: Sequence[Watched] = ()
    _now = 0
    _placeholder = ""

    def show(
        self, watched: Sequence[Watched], now: int, *, placeholder: str = "nothing is pinned"
    ) -> None:
        """Show the watch list.

        Args:
            watched: the pinned tokens.
            now: the position that the next token takes.
            placeholder: said where nothing is pinned.
        """
        self._watched, self._now, self._placeholder = watched, now, placeholder
        if not watched:
            self._cursor = None
            self.title("watch list")
        else:
            pinned = f"{count(len(watched))} {'token' if len(watched) == 1 else 'tokens'}"
            self.title("watch list", pinned, f"the last column is now: position {count(now + 1)}")
        self.keep_in_sight()
        self.redraw()

    @property
    def highlighted(self) -> Watched | None:
        """The token under the cursor."""
        if self._cursor is None or not self._watched:
            return None
        return self._watched[min(self._cursor, len(self._watched) - 1)]

    @property
    def row_count(self) -> int:
        """Pinned tokens."""
        return len(self._watched)

    @property
    def body(self) -> int:
        """Tokens in sight."""
        return tokens_in_sight(self.size.width, self.size.height, max(1, len(self._watched)))

    def row_at(self, y: int) -> int | None:
        """The token on a line: each takes several."""
        top = header_height(self.size.height)
        layout = Layout.fit(self.size.width, self.size.height - top, max(1, len(self._watched)))
        row = self._top + (y - top) // layout.each
        return row if y >= top and row < self.row_count else None

    def draw(self, width: int, height: int, palette: Palette) -> list[Strip]:
        """Each token's figures and plots."""
        return watch_strips(
            self._watched,
            self._now,
            width,
            height,
            palette,
            top=self._top,
            highlighted=self._cursor,
            placeholder=self._placeholder,
        )
