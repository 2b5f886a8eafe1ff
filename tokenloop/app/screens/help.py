"""Every key, from the table that makes the bindings."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from tokenloop.app.keys import COMMANDS, keys_of
from tokenloop.app.screens.dialog import Dialog, NoteLine, keys_line

if TYPE_CHECKING:
    from collections.abc import Mapping

    from textual.app import ComposeResult

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
                yield Static(help_page(self._keymap))
            yield NoteLine(keys_line("↑↓", "scroll", "esc", "back"))

    def on_mount(self) -> None:
        """Scroll with the arrow keys at once."""
        self.query_one("#help").border_title = Content("keys")
        self.query_one("#help-page").focus()

    def action_scroll_down(self) -> None:
        """A line down."""
        self.query_one("#help-page").scroll_down()

    def action_scroll_up(self) -> None:
        """A line up."""
        self.query_one("#help-page").scroll_up()


def help_page(keymap: dict[str, str]) -> Content:
    """The page: keys by group, then what the colours mean."""
    parts: list[str | tuple[str, str]] = []
    for group, commands in groupby(COMMANDS, key=lambda command: command.group):
        parts.append((f"{group}\n", "bold underline"))
        for command in commands:
            keys = "  ".join(keys_of(command, keymap))
            parts += [(f"  {keys:<18} ", "bold"), f"{command.help}\n"]
        parts.append("\n")
    parts.append(("colours, each with one meaning\n", "bold underline"))
    for name, colour, meaning in LEGEND:
        parts += [(f"  {name:<18} ", f"bold {colour}"), f"{meaning}\n"]
    return Content.assemble(*parts)
