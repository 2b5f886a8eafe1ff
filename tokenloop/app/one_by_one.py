"""One key after another: what is typed ahead waits until the key before it has been dealt with.

Textual hands every key to the widget in focus, whose answer travels back through several queues.
Keys that arrive together would all be handed to the widget that was in focus before the first of
them acted: text meant for a window would reach the panels below it as commands, and "apply" would
overtake the last letters typed.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from textual import events
from textual.app import App
from textual.message import Message

if TYPE_CHECKING:
    from textual.driver import Driver

ROUNDS = 2
"""Trips behind a key: it may post a message of its own, which goes the same way."""

LOST_SECONDS = 1.0


class Passed(Message):
    """Follows a key through the same queues: where it arrives, the key has been before."""

    def __init__(self, number: int) -> None:
        super().__init__()
        self.number = number


class OneByOneApp(App[None]):
    """An app that handles keys and pastes one by one, windows that they open or close included."""

    def __init__(self, driver_class: type[Driver] | None) -> None:
        super().__init__(driver_class)
        self._typed: deque[events.Key | events.Paste] = deque()
        self._rounds_left = 0
        self._last_sent = 0
        self._last_seen = 0

    @property
    def typing(self) -> bool:
        """Whether a key is being dealt with or waits."""
        return self._rounds_left > 0

    def on_mount(self) -> None:
        """Follow the person into the screen that a key opened, or came back to."""
        self.screen_change_signal.subscribe(self, lambda _: self._follow_up(), immediate=True)
        self.set_interval(LOST_SECONDS, self._find_again)

    async def on_event(self, event: events.Event) -> None:
        """Let keys wait for their turn; anything else goes on at once."""
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            self._typed.append(event)
            if not self.typing:
                await self._next()
        else:
            await super().on_event(event)

    async def _next(self) -> None:
        if self._typed:
            self._rounds_left = ROUNDS
            await super().on_event(self._typed.popleft())
            self._follow_up()

    def _follow_up(self) -> None:
        """Send a follower to where the next key would go; a new screen answers when it is there."""
        if self.typing and self.screen_stack:
            self._last_sent += 1
            (self.focused or self.screen).post_message(Passed(self._last_sent))

    async def on_passed(self, event: Passed) -> None:
        """The key was dealt with: the next, please."""
        event.stop()
        if event.number != self._last_sent or not self.typing:
            return
        self._rounds_left -= 1
        if self.typing:
            self._follow_up()
        else:
            await self._next()

    def _find_again(self) -> None:
        """A widget that goes takes what waits in its queue along: never wait for that."""
        if self.typing and self._last_seen == self._last_sent:
            self._follow_up()
        self._last_seen = self._last_sent
