"""Edit the whole text, or type some to append."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len, set_cell_size
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from tokenloop.app.editable import Editable
from tokenloop.app.prompt_area import PromptArea, TextField
from tokenloop.app.screens.dialog import Dialog, Drawer, NoteLine, keys_line
from tokenloop.app.tick import Tick

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events
    from textual.app import ComposeResult

FRAME = 4
"""Cells beside a window's content: border and padding."""

SPECIALS_LABEL = "read <|…|> as special tokens"


@dataclass(frozen=True)
class Written:
    """What a person wrote, and whether ``<|…|>`` in it are special tokens."""

    text: str
    specials: bool


class EditorScreen(Dialog[Written]):
    """A real editor for the whole text; its result is ``None`` where nothing is to be done.

    Args:
        written: the prefix as text, or what was written before and could not be used.
        before: the prefix as text.
        reason: why the text could not be used, if it is back for that.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,f2,ctrl+enter", "apply", "apply", priority=True, show=False),
    ]

    def __init__(self, written: Written, before: str, reason: str = "") -> None:
        super().__init__()
        self._editable = Editable(written.text)
        self._specials = written.specials
        self._before = before
        self._reason = reason
        self._ticked = bool(reason)

    def compose(self) -> ComposeResult:
        """The editor, the choice of specials, the keys."""
        with Vertical(id="editor", classes="window"):
            yield TextField(self._editable.text, id="whole-text", show_line_numbers=True)
            yield Tick(SPECIALS_LABEL, self._specials, id="specials")
            yield NoteLine(keys_line("ctrl+s", "apply", "esc", "leave the text as it was"))

    def on_mount(self) -> None:
        """Begin at the end of the text, where writing goes on."""
        self.query_one("#editor").border_title = Content("edit the whole text")
        if self._editable.swapped:
            self.query_one("#editor").border_subtitle = Content(
                f"{self._editable.swapped} unprintable characters have stand-ins here"
            )
        area = self.query_one(TextField)
        area.move_cursor(area.document.end)
        area.focus()
        if self._reason:
            self.note.say(self._reason, "error")

    def action_apply(self) -> None:
        """Hand the text over; where nothing was changed, nothing is to be done."""
        text = self._editable.restore(self.query_one(TextField).text)
        written = Written(text, self.query_one(Tick).value)
        if not text:
            self.note.say("an empty text says nothing to a model: type some", "error")
        else:
            # Ticked by hand, the same text may be read as other tokens.
            same = text == self._before and not (self._ticked and written.specials)
            self.dismiss(None if same else written)

    def on_tick_turned(self, event: Tick.Turned) -> None:
        """Say what the choice means for what is there already."""
        event.stop()
        self._ticked = True
        self.note.say(
            "new <|…|> become special tokens; in an unchanged text, all of them do"
            if event.value
            else "new <|…|> stay plain text; special tokens that are there stay"
        )


class TypeScreen(Drawer[Written]):
    """Text to append to the prefix.

    Args:
        tail: the labels at the end of the text, to see whether a space is wanted.
        make_room: as for :class:`Drawer`.
        written: what was written before and could not be used.
        reason: why it could not.
    """

    def __init__(
        self,
        tail: str,
        make_room: Callable[[int], None],
        written: Written | None = None,
        reason: str = "",
    ) -> None:
        super().__init__(make_room)
        self._tail = tail
        self._written = written or Written("", specials=False)
        self._reason = reason

    def compose(self) -> ComposeResult:
        """Where the text stands, the field, the choice of specials."""
        with Vertical(id="typing", classes="window"):
            yield Static(id="tail")
            yield PromptArea(self._written.text, id="more-text", highlight_cursor_line=False)
            yield Tick(SPECIALS_LABEL, self._written.specials, id="specials")
            yield NoteLine(keys_line("enter", "append", "ctrl+j", "new line", "esc", "back"))

    def on_mount(self) -> None:
        """Ready to type."""
        self.query_one("#typing").border_title = Content(
            "type text to append · mind the space before a word"
        )
        area = self.query_one(PromptArea)
        area.move_cursor(area.document.end)
        area.focus()
        if self._reason:
            self.note.say(self._reason, "error")

    def on_resize(self, event: events.Resize) -> None:
        """Show as much of the text's end as a line holds."""
        super().on_resize(event)
        tail, room = self._tail, max(1, event.size.width - FRAME - 2)
        if cell_len(tail) > room:
            tail = "…" + set_cell_size(tail[::-1], room)[::-1].lstrip()
        self.query_one("#tail", Static).update(Content.assemble((tail, "$text-muted"), "▏"))

    def on_prompt_area_submitted(self, event: PromptArea.Submitted) -> None:
        """Append."""
        event.stop()
        if event.area.text:
            self.dismiss(Written(event.area.text, self.query_one(Tick).value))
        else:
            self.note.say("nothing is typed yet: esc goes back", "error")

    def on_prompt_area_left(self, event: PromptArea.Left) -> None:
        """Down from the last line: to the choice of specials."""
        event.stop()
        self.query_one(Tick).focus()
