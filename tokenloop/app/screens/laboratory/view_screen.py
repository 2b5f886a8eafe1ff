"""What the laboratory's views share: a drawing in full, a line of keys, and the way back."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from tokenloop.app.keys import BY_ID, is_command_key, keys_of, shown_key
from tokenloop.app.layout import LOW, arrange
from tokenloop.app.screens.notice import NoticeScreen
from tokenloop_widgets import Key, KeyBar, Panel, RowsPanel

if TYPE_CHECKING:
    from textual import events
    from textual.app import ComposeResult
    from textual.widget import Widget

    from tokenloop.app.conductor import Conductor


class ViewScreen(NoticeScreen):
    """A full-size view; esc leaves it, the dials that need no pass can be turned in it.

    Args:
        conductor: what is held, and the way to the loop.
        keymap: the person's own keys, by command id.

    A subclass has a ``panel``, draws in :meth:`follow`, and names its keys in :meth:`keys`.
    """

    DEFAULT_CSS = """
    ViewScreen { layout: vertical; }
    ViewScreen .view-panel { height: 1fr; }
    ViewScreen KeyBar { height: 1; }
    ViewScreen.-low KeyBar { display: none; }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "leave", "back", show=False),
        Binding("ctrl+c", "app.help_quit", "how to quit", show=False),
        Binding("minus", "turn('cooler')", "cooler", show=False, id="cooler"),
        Binding("plus,equals_sign", "turn('warmer')", "warmer", show=False, id="warmer"),
        Binding("0", "turn('greedy')", "greedy", show=False, id="greedy"),
        Binding("r", "turn('roll')", "roll again", show=False, id="roll"),
        Binding("w", "watch", "pin", show=False, id="watch"),
    ]

    panel: Panel

    def __init__(self, conductor: Conductor, keymap: dict[str, str]) -> None:
        super().__init__()
        self.conductor = conductor
        self.keymap = keymap

    def above(self) -> list[Widget]:
        """What stands above the panel."""
        return []

    def typed_into(self) -> Widget:
        """What takes the keys at first."""
        return self.panel

    def keys(self) -> list[Key]:
        """The view's own keys, the most wanted first."""
        return []

    def follow(self) -> None:
        """Draw what is held now."""

    def waits(self) -> bool:
        """Whether the panel still waits for what its keys act on."""
        return False

    def needs_answer(self, key: str) -> bool:
        """Whether a key acts on what is still being computed."""
        return self.waits() and self.acts_on_answer(key)

    def acts_on_answer(self, key: str) -> bool:
        """Whether a key is the panel's."""
        bound = self.active_bindings.get(key)
        return bound is not None and bound.node is self.panel

    def compose(self) -> ComposeResult:
        """The panel in full, and a line below."""
        yield from self.above()
        self.panel.add_class("view-panel")
        yield self.panel
        yield self.notice
        yield KeyBar(id="view-keys")

    def on_mount(self) -> None:
        """Draw at once."""
        self.typed_into().focus()
        self.show_keys()
        self.follow()

    def on_resize(self, event: events.Resize) -> None:
        """In the smallest terminals the frame makes way, too."""
        arrange(self, event.size)
        self.panel.set_class(event.size.height < LOW, "-bare")

    # the line below

    def show_keys(self) -> None:
        """Say which keys there are."""
        back = Key("esc", "back", "leave", pinned=True)
        self.query_one("#view-keys", KeyBar).show([*self.keys(), back])

    def command_key(self, command: str, word: str, action: str) -> Key:
        """A command of the main screen's, under the person's own key."""
        return Key(keys_of(BY_ID[command], self.keymap)[0], word, action)

    def dial_keys(self) -> list[Key]:
        """The dials that need no pass."""
        return [
            self.command_key("cooler", "cooler", "turn('cooler')"),
            self.command_key("warmer", "warmer", "turn('warmer')"),
            self.command_key("greedy", "greedy", "turn('greedy')"),
        ]

    def on_key(self, event: events.Key) -> None:
        """What was said was about the key before; a key of the panels' has to wait for them."""
        self.hush()
        if event.key not in self.active_bindings and is_command_key(event.key, self.keymap):
            word = f"{shown_key(event.key)} is a key of the panels: esc goes back to them"
            self.tell(word, "information")

    async def on_key_bar_pressed(self, event: KeyBar.Pressed) -> None:
        """Do what the clicked key does."""
        await self.run_action(event.action)

    # keys of all views

    def action_leave(self) -> None:
        """Back to the panels."""
        self.dismiss(None)

    def action_turn(self, dial: str) -> None:
        """Turn a dial that needs no pass; what is drawn follows."""
        self.hush()
        match dial:
            case "cooler":
                self.conductor.heat(-0.1)
            case "warmer":
                self.conductor.heat(0.1)
            case "greedy":
                self.conductor.greedy()
            case "roll":
                self.conductor.roll()
        self.follow()

    @property
    def highlighted_id(self) -> int | None:
        """The token under the cursor, where the panel has one."""
        highlighted = self.panel.highlighted if isinstance(self.panel, RowsPanel) else None
        return None if highlighted is None else highlighted.id

    def action_watch(self) -> None:
        """Pin the highlighted token, else the marked draw's; or unpin it."""
        self.hush()
        self.conductor.watch(self.highlighted_id)

    def take(self, token_id: int | None) -> None:
        """Force a token and go back to the panels; without one, say how to choose it."""
        self.hush()
        if token_id is None:
            self.tell("no candidate is highlighted: ↑ ↓ choose one", "information")
        elif self.conductor.may("take a candidate"):
            self.conductor.take(token_id)
            self.dismiss(None)
