"""The panel of the text so far."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.events import Click, MouseScrollDown, MouseScrollUp
from textual.message import Message
from textual.strip import Strip

from tokenloop.records import Choice, PrefixToken
from tokenloop_widgets.drawing.figures import count
from tokenloop_widgets.drawing.text import Marks, text_strips, total_rows
from tokenloop_widgets.drawing.text_layout import TextLayout
from tokenloop_widgets.palette import Palette
from tokenloop_widgets.panel import Panel


class TextPanel(Panel):
    """The prefix as token runs, the ghost of the next one at its end, the end in view."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("pageup", "page(-1)", "page up", show=False, id="text.page_up"),
        Binding("pagedown", "page(1)", "page down", show=False, id="text.page_down"),
        Binding("up,k", "scroll_rows(-1)", "up", show=False, id="text.up"),
        Binding("down,j", "scroll_rows(1)", "down", show=False, id="text.down"),
    ]

    @dataclass
    class TokenPressed(Message):
        """A token was clicked."""

        position: int

    _prefix: Sequence[PrefixToken] = ()
    _marks = Marks()
    _first_landed: int | None = None
    _probabilities = False
    _placeholder = ""
    _layout: TextLayout | None = None
    _top = 0
    _follow = True

    def show(
        self,
        prefix: Sequence[PrefixToken],
        *,
        pending: Choice | None = None,
        cursor: int | None = None,
        probabilities: bool = False,
        landed: int = 0,
        full: bool = False,
        reading: str = "",
        placeholder: str = "no prompt yet",
    ) -> None:
        """Show the text.

        Args:
            prefix: its tokens.
            pending: the choice whose draw stands as a ghost at the end.
            cursor: position of the token that is looked at; ``None`` is now, the end in view.
            probabilities: print each token's probability under it.
            landed: how many tokens at the end to mark for a moment.
            full: whether the ghost can't become fact, for no further token fits.
            reading: text that is on its way: it stands in the ghost's place.
            placeholder: said where there is no token.
        """
        self._prefix = prefix
        self._probabilities = probabilities
        self._placeholder = placeholder
        self._first_landed = len(prefix) - landed if landed else None
        hint = "▸ no room: context full" if full else "▸ space makes it fact"
        ghost, said = (pending.chosen.label, hint) if pending is not None else (None, "")
        if reading:
            ghost, said = reading, "◐ is being read"
        self._marks = Marks(cursor=cursor, ghost=ghost, hint=said)
        self._follow = True
        given = sum(item.how == "given" for item in prefix)
        forced = sum(item.how == "forced" for item in prefix)
        self.title(
            "text",
            f"{count(given)} given + {count(len(prefix) - given)} written" if prefix else "",
            f"◆ {count(forced)} forced" if forced else "",
        )
        self.mark_landed(landed > 0)
        self.redraw()

    def draw(self, width: int, height: int, palette: Palette) -> list[Strip]:
        """The visible rows."""
        layout = self._laid_out(width)
        rows = max(1, height // 2 if self._probabilities else height)
        last = max(0, total_rows(layout, self._marks) - rows)
        if self._follow:
            looked_at = self._marks.cursor
            if looked_at is None:
                self._top = last
            else:
                row = layout.row_of(looked_at)
                self._top = min(max(self._top, row - rows + 1), row)
        self._top = max(0, min(self._top, last))
        landed = self._first_landed if self._landed else None
        marks = Marks(self._marks.cursor, landed, self._marks.ghost, self._marks.hint)
        return text_strips(
            layout,
            self._prefix,
            height,
            palette,
            top=self._top,
            marks=marks,
            placeholder=self._placeholder,
        )

    def action_scroll_rows(self, by: int) -> None:
        """Scroll by rows; the next ``show`` brings the end back into view."""
        self._follow = False
        self._top = max(0, self._top + by)
        self.redraw()

    def action_page(self, by: int) -> None:
        """Scroll by a panel's height."""
        rows = self.size.height // (2 if self._probabilities else 1)
        self.action_scroll_rows(by * max(1, rows - 1))

    def on_click(self, event: Click) -> None:
        """Say which token was clicked."""
        offset = event.get_content_offset(self)
        if offset is None or self._layout is None:
            return
        row = self._top + offset.y // (2 if self._probabilities else 1)
        position = self._layout.position_at(offset.x, row)
        if position is not None:
            self.post_message(self.TokenPressed(position))

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        """Scroll towards the end."""
        self.action_scroll_rows(1)
        event.stop()

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        """Scroll towards the beginning."""
        self.action_scroll_rows(-1)
        event.stop()

    def _laid_out(self, width: int) -> TextLayout:
        layout = self._layout
        if (
            layout is None
            or layout.width != width
            or layout.probabilities is not self._probabilities
        ):
            layout = self._layout = TextLayout(width, probabilities=self._probabilities)
        layout.update(self._prefix)
        return layout
