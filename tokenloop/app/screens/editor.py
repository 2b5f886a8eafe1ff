"""Edit the whole text, or type some to append."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static, TextArea

from tokenloop.app.editable import Editable
from tokenloop.app.prompt_area import MAX_PASTE, PromptArea
from tokenloop.app.screens.dialog import Dialog, Drawer
from tokenloop.app.tick import Tick

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult

SPECIALS_LABEL = "read <|…|> as special tokens"


@dataclass(frozen=True)
class Written:
    """What a person wrote, and whether ``<|…|>`` in it are special tokens."""

    text: str
    specials: bool


class EditorScreen(Dialog[Written]):
    """A real editor for the whole text.

    Args:
        text: the prefix as text.
        specials: the text holds special tokens, so that they are to be read as such.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s,f2,ctrl+enter", "apply", "apply", priority=True, show=False),
    ]

    def __init__(self, text: str, *, specials: bool) -> None:
        super().__init__()
        self._editable = Editable(text)
        self._specials = specials

    def compose(self) -> ComposeResult:
        """The editor, the choice of specials, the keys."""
        with Vertical(id="editor", classes="window"):
            yield TextArea(self._editable.text, id="whole-text", show_line_numbers=True)
            yield Tick(SPECIALS_LABEL, self._specials, id="specials")
            yield Static(_keys("ctrl+s", "apply", "esc", "leave the text as it was"))

    def on_mount(self) -> None:
        """Begin at the end of the text, where writing goes on."""
        self.query_one("#editor").border_title = Content("edit the whole text")
        if self._editable.swapped:
            self.query_one("#editor").border_subtitle = Content(
                f"{self._editable.swapped} unprintable characters have stand-ins here"
            )
        area = self.query_one(TextArea)
        area.move_cursor(area.document.end)
        area.focus()

    def action_apply(self) -> None:
        """Hand the text over; unchanged text is no edit."""
        text = self._editable.restore(self.query_one(TextArea).text)
        self.dismiss(Written(text, self.query_one(Tick).value))


class TypeScreen(Drawer[Written]):
    """Text to append to the prefix.

    Args:
        tail: the end of the text, to see whether a space is wanted.
        make_room: as for :class:`Drawer`.
    """

    def __init__(self, tail: str, make_room: Callable[[int], None]) -> None:
        super().__init__(make_room)
        self._tail = tail

    def compose(self) -> ComposeResult:
        """Where the text stands, the field, the choice of specials."""
        with Vertical(id="typing", classes="window"):
            yield Static(Content.assemble((self._tail, "$text-muted"), "▏"), id="tail")
            yield PromptArea("", id="more-text", highlight_cursor_line=False)
            yield Tick(SPECIALS_LABEL, False, id="specials")
            yield Static(
                _keys("enter", "append", "ctrl+j", "new line", "esc", "back"), id="typing-keys"
            )

    def on_mount(self) -> None:
        """Ready to type."""
        self.query_one("#typing").border_title = Content(
            "type text to append · mind the space before a word"
        )
        self.query_one(PromptArea).focus()

    def on_prompt_area_submitted(self, event: PromptArea.Submitted) -> None:
        """Append; an empty text appends nothing."""
        event.stop()
        text = event.area.text
        self.dismiss(Written(text, self.query_one(Tick).value) if text else None)

    def on_prompt_area_left(self, event: PromptArea.Left) -> None:
        """Down from the last line: to the choice of specials."""
        event.stop()
        self.query_one(Tick).focus()

    def on_prompt_area_too_long(self, event: PromptArea.TooLong) -> None:
        """Say why the paste was refused."""
        event.stop()
        self.query_one("#typing-keys", Static).update(
            Content(f"{event.length:,} characters are too many to paste: {MAX_PASTE:,}")
        )


def _keys(*pairs: str) -> Content:
    """Keys with their words, as the footer shows them."""
    parts: list[str | tuple[str, str]] = []
    for key, word in zip(pairs[::2], pairs[1::2], strict=True):
        parts += [(key, "bold"), f" {word}   "]
    return Content.assemble(*parts)
