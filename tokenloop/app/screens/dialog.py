"""What the small windows share: a frame with a title, one line below, and esc to leave."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, TypeVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from tokenloop.app.layout import arrange

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events
    from textual.widgets import TextArea

    from tokenloop.app.prompt_area import TextField

Result = TypeVar("Result")

MOST_ROWS = 20
FRAME_AND_NOTE = 3


class NoteLine(Static):
    """The line below a window: its keys, or what there is to say instead.

    Args:
        keys: what stands there at rest.
    """

    def __init__(self, keys: Content) -> None:
        super().__init__(keys, classes="note")
        self._at_rest = keys

    def say(
        self, text: str | Content, severity: str = "information", *, layout: bool = True
    ) -> None:
        """Say it until there is something else to say.

        Args:
            text: what to say.
            severity: ``information``, ``warning`` or ``error``.
            layout: whether the line's height may change, which lays the window out anew.
        """
        self.set_class(severity == "error", "-error")
        self.update(Content(text) if isinstance(text, str) else text, layout=layout)

    def rest(self) -> None:
        """Back to the keys."""
        self.say(self._at_rest)


class Dialog(ModalScreen[Result]):
    """A window above the panels; esc leaves it with no result."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back", show=False),
        Binding("ctrl+c", "copy_or_help", "copy", show=False),
    ]

    def on_resize(self, event: events.Resize) -> None:
        """Arrange for the new size; what doesn't fit scrolls, so that the line below shows."""
        arrange(self, event.size)
        for part in self.query(".fits"):
            part.styles.max_height = max(1, min(MOST_ROWS, event.size.height - FRAME_AND_NOTE))

    def tell(self, text: str, severity: str) -> None:
        """Say one line to the person."""
        self.note.say(text, severity)

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        """What was said was about the text before."""
        event.stop()
        self.note.rest()

    def on_text_field_noted(self, event: TextField.Noted) -> None:
        """Say what became of a paste."""
        event.stop()
        self.tell(event.text, "warning")

    @property
    def note(self) -> NoteLine:
        """The window's line."""
        return self.query_one(NoteLine)

    async def action_copy_or_help(self) -> None:
        """Copy what is selected; else say how to quit."""
        if self.get_selected_text():
            self.action_copy_text()
        else:
            await self.run_action("app.help_quit")

    def action_leave(self) -> None:
        """Close without a result."""
        self.dismiss(None)


class Drawer(Dialog[Result]):
    """A window at the bottom of the screen; the panels move up so that none is half covered.

    Args:
        make_room: told how many rows the window takes, and 0 when it goes.
    """

    def __init__(self, make_room: Callable[[int], None]) -> None:
        super().__init__()
        self._make_room = make_room

    def on_resize(self, event: events.Resize) -> None:
        """Arrange for the new size, then take the room that the window turned out to need."""
        super().on_resize(event)
        self.call_after_refresh(self._take_room)

    def _take_room(self) -> None:
        self._make_room(self.query_one(".window").outer_size.height)

    def on_unmount(self) -> None:
        """Give the room back."""
        self._make_room(0)


def keys_line(*pairs: str) -> Content:
    """Keys with their words, as the footer shows them."""
    parts: list[str | tuple[str, str]] = []
    for key, word in zip(pairs[::2], pairs[1::2], strict=True):
        parts += [(key, "bold"), f" {word}   "]
    return Content.assemble(*parts)
