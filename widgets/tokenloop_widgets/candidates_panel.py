"""The panel of the next token's candidates."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import BindingType
from textual.events import Click, MouseScrollDown, MouseScrollUp
from textual.message import Message
from textual.strip import Strip

from tokenloop.records import Choice, Token
from tokenloop_widgets.drawing.candidates import Marks, candidates_strips
from tokenloop_widgets.drawing.candidates_layout import body_height, table_rows
from tokenloop_widgets.drawing.cells import safe
from tokenloop_widgets.drawing.figures import bits, count
from tokenloop_widgets.palette import Palette
from tokenloop_widgets.panel import Panel
from tokenloop_widgets.rows_panel import ROW_KEYS, WHEEL_ROWS


class CandidatesPanel(Panel):
    """Candidates with raw and final probability; a cursor walks them to any depth.

    The cursor rests nowhere until it is moved; a choice at another position puts it back.
    """

    BINDINGS: ClassVar[list[BindingType]] = ROW_KEYS

    @dataclass
    class Highlighted(Message):
        """The cursor stands on a candidate."""

        id: int

    @dataclass
    class Pressed(Message):
        """A candidate is wanted: enter, or a click on the highlighted row."""

        id: int

    @dataclass
    class NeedMore(Message):
        """The cursor nears the end of what the choice holds: ``count`` candidates are wanted."""

        count: int

        def can_replace(self, message: Message) -> bool:
            """A larger wish replaces a smaller one."""
            return isinstance(message, CandidatesPanel.NeedMore)

    _choice: Choice | None = None
    _placeholder = ""
    _top = 0
    _cursor: int | None = None
    _asked = 0
    _watched: Collection[int] = ()
    _biases: Mapping[int, float] = {}

    def show(
        self,
        choice: Choice | None,
        *,
        after: Token | None = None,
        then: Token | None = None,
        landed: bool = False,
        watched: Collection[int] = (),
        biases: Mapping[int, float] | None = None,
        placeholder: str = "no prompt yet",
    ) -> None:
        """Show a choice.

        Args:
            choice: the held distribution, or an earlier token's record.
            after: the token before it, for the headline.
            then: the token that was chosen, where this is an earlier moment.
            landed: mark the chosen row for a moment.
            watched: ids that are pinned.
            biases: what the person adds to logits, by id.
            placeholder: said where ``choice`` is ``None``.
        """
        before = self._choice
        if before is None or choice is None or before.position != choice.position:
            self._top, self._cursor = 0, None
        if before is None or choice is None or len(before.candidates) != len(choice.candidates):
            self._asked = 0
        self._choice, self._placeholder = choice, placeholder
        self._watched, self._biases = watched, biases or {}
        name = "next token"
        if then is not None:
            given = choice is None or choice.draw.how == "given"
            label = safe(then.label)
            name = f"{label} was given" if given else f"how {label} was chosen"
        if choice is None:
            self.title(name)
        else:
            self.title(
                name,
                f"{count(choice.vocab_size)} candidates",
                bits(choice.entropy_bits),
                f"after {safe(after.label)}" if after else "",
            )
        self.mark_landed(landed)
        self._scroll_to_cursor()
        self.redraw()

    @property
    def highlighted(self) -> int | None:
        """The id of the candidate under the cursor."""
        if self._choice is None or self._cursor is None:
            return None
        return self._choice.candidates[self._cursor].id

    def draw(self, width: int, height: int, palette: Palette) -> list[Strip]:
        """The table at the current scroll position."""
        return candidates_strips(
            self._choice,
            width,
            height,
            palette,
            top=self._top,
            marks=Marks(self._cursor, self._landed, self._watched, self._biases),
            placeholder=self._placeholder,
        )

    def clear_highlight(self) -> None:
        """Put the cursor away and scroll back to the top."""
        self._top, self._cursor = 0, None
        self.redraw()

    def action_move(self, by: int) -> None:
        """Move the cursor; its first move starts at the chosen candidate."""
        self._move_to(self._start() + by)

    def action_page(self, by: int) -> None:
        """Move the cursor by a page."""
        self._move_to(self._start() + by * max(1, body_height(self.size.height) - 1))

    def action_home(self) -> None:
        """Move the cursor to the model's best."""
        self._move_to(0)

    def action_end(self) -> None:
        """Move the cursor to the last candidate at hand."""
        self._move_to(len(self._choice.candidates) if self._choice else 0)

    def action_press(self) -> None:
        """Take the highlighted candidate, or the chosen one where none is."""
        if self._choice is not None:
            wanted = self.highlighted
            self.post_message(self.Pressed(self._choice.chosen.id if wanted is None else wanted))

    def on_click(self, event: Click) -> None:
        """Highlight the row, or take it where it is highlighted already."""
        offset = event.get_content_offset(self)
        if offset is None or self._choice is None:
            return
        rows = table_rows(self._choice, self.size.height, self._top)
        row = rows[offset.y] if offset.y < len(rows) else None
        if row is None or row.kind != "candidate":
            return
        if row.index == self._cursor:
            self.action_press()
        else:
            self._move_to(row.index)

    def on_resize(self) -> None:
        """As near to the top as the cursor allows (Textual calls the panel's own handler too)."""
        if self._cursor is not None:
            self._top = 0
        self._scroll_to_cursor()

    def on_mouse_scroll_down(self, event: MouseScrollDown) -> None:
        """Scroll the window; the cursor stays on its candidate."""
        self._scroll(WHEEL_ROWS)
        event.stop()

    def on_mouse_scroll_up(self, event: MouseScrollUp) -> None:
        """Scroll the window back."""
        self._scroll(-WHEEL_ROWS)
        event.stop()

    def _start(self) -> int:
        if self._cursor is not None or self._choice is None:
            return self._cursor or 0
        ids = [candidate.id for candidate in self._choice.candidates]
        chosen = self._choice.chosen.id
        return ids.index(chosen) if chosen in ids else -1

    def _move_to(self, index: int) -> None:
        if self._choice is None or not self._choice.candidates:
            return
        self._cursor = max(0, min(index, len(self._choice.candidates) - 1))
        self._scroll_to_cursor()
        self._ask_for_more(self._choice, self._cursor)
        self.post_message(self.Highlighted(self._choice.candidates[self._cursor].id))
        self.redraw()

    def _scroll(self, by: int) -> None:
        if self._choice is None:
            return
        body = body_height(self.size.height)
        last = max(0, len(self._choice.candidates) - body + 1)
        self._top = max(0, min(self._top + by, last))
        self._ask_for_more(self._choice, self._top + body)
        self.redraw()

    def _scroll_to_cursor(self) -> None:
        """Keep the cursor in the window, above the line that the chosen one may be pinned to."""
        if self._choice is None:
            return
        self._top = max(0, min(self._top, len(self._choice.candidates) - 1))
        if self._cursor is None or not self.size.height:
            return
        self._cursor = min(self._cursor, len(self._choice.candidates) - 1)
        window = max(1, body_height(self.size.height) - 1)
        self._top = max(min(self._top, self._cursor), self._cursor - window + 1)

    def _ask_for_more(self, choice: Choice, index: int) -> None:
        """Ask once for more where ``index`` comes within a page of the end of what is held."""
        held = len(choice.candidates)
        page = max(10, body_height(self.size.height))
        if choice.tail.count and index + page >= held and self._asked <= held:
            self._asked = min(choice.vocab_size, held + 4 * page)
            self.post_message(self.NeedMore(self._asked))
