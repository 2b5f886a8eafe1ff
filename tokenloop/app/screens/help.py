"""Every key, from the table that makes the bindings."""

from __future__ import annotations

from itertools import groupby
from textwrap import wrap
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tokenloop.app.keys import COMMANDS, keys_of
from tokenloop.app.screens.dialog import Dialog, NoteLine, keys_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual import events
    from textual.app import ComposeResult

WIDEST = 92
FRAME = 5
"""Cells beside the page: the window's border and padding, and the scroll bar."""

NAME_CELLS = 21

LEGEND = (
    ("blue", "$primary", "what the model says: raw probability, passes"),
    ("amber", "$accent", "what the sampler makes of it: final probability, settings, the draw ▸ ▲"),
    ("violet", "$secondary", "memory: the KV cache"),
    ("green", "$success", "ready, and the screen's own time"),
    ("grey", "$text-muted", "cut, off, or scenery"),
)


class HelpScreen(Dialog[None]):
    """All keys with what they do.

    Args:
        keymap: the person's own keys, by command id.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,question_mark,enter,space", "leave", "back", show=False),
        Binding("j", "scroll_down", "down", show=False),
        Binding("k", "scroll_up", "up", show=False),
    ]

    def __init__(self, keymap: Mapping[str, str]) -> None:
        super().__init__()
        self._keymap = dict(keymap)

    def compose(self) -> ComposeResult:
        """One scrolling page."""
        with Vertical(id="help", classes="window"):
            with VerticalScroll(id="help-page"):
                yield Static(id="help-text")
            yield NoteLine(keys_line("↑↓", "scroll", "esc", "back"))

    def on_mount(self) -> None:
        """Scroll with the arrow keys at once."""
        self.query_one("#help").border_title = Content("keys")
        self.query_one("#help-page").focus()

    def on_resize(self, event: events.Resize) -> None:
        """Wrap the page for the new width."""
        super().on_resize(event)
        room = min(event.size.width, WIDEST) - FRAME
        self.query_one("#help-text", Static).update(help_page(self._keymap, room))

    def action_scroll_down(self) -> None:
        """A line down."""
        self.query_one("#help-page").scroll_down()

    def action_scroll_up(self) -> None:
        """A line up."""
        self.query_one("#help-page").scroll_up()


def help_page(keymap: dict[str, str], width: int) -> Content:
    """The page: keys by group, then what the colours mean.

    Args:
        keymap: the person's own keys, by command id.
        width: in cells; where two columns don't fit, what a key does stands below it.
    """
    parts: list[str | tuple[str, str]] = []
    for group, commands in groupby(COMMANDS, key=lambda command: command.group):
        parts.append((f"{group}\n", "bold underline"))
        for command in commands:
            keys = "  ".join(keys_of(command, keymap))
            parts += _entry(keys, "bold", command.help, width)
        parts.append("\n")
    parts.append(("colours, each with one meaning\n", "bold underline"))
    for name, colour, meaning in LEGEND:
        parts += _entry(name, f"bold {colour}", meaning, width)
    return Content.assemble(*parts)


def _entry(name: str, style: str, meaning: str, width: int) -> list[str | tuple[str, str]]:
    """A name and its meaning, whose further lines stand under its first."""
    below = width < 2 * NAME_CELLS
    indent = " " * (4 if below else NAME_CELLS)
    lines = wrap(meaning, max(10, width - len(indent)))
    first = f"  {name}\n{indent}" if below else f"  {name} ".ljust(NAME_CELLS)
    return [(first, style), f"\n{indent}".join(lines) + "\n"]
