"""One key after another: what is typed ahead waits until the key before it has been dealt with.

Textual hands every key to the widget in focus, whose answer travels back through several queues.
Keys that arrive together would all be handed to the widget that was in focus before the first of
them acted: text meant for a window would reach the panels below it as commands, and "apply" would
overtake the last letters typed. A key that acts on what the loop is still computing waits for that.
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
        self._stuck: events.Key | events.Paste | None = None

    @property
    def typing(self) -> bool:
        """Whether a key is being dealt with."""
        return self._rounds_left > 0

    def needs_answer(self, key: str) -> bool:
        """Whether a key acts on what is still being computed: it waits, and those behind it."""
        return False

    def on_mount(self) -> None:
        """Follow the person into the screen that a key opened, or came back to."""
        self.screen_change_signal.subscribe(self, lambda _: self._follow_up(), immediate=True)
        self.set_interval(LOST_SECONDS, self._find_again)

    async def on_event(self, event: events.Event) -> None:
        """Let keys wait for their turn; anything else goes on at once."""
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            self._typed.append(event)
            await self._next()
        else:
            await super().on_event(event)

    def go_on(self) -> None:
        """Something was answered: maybe what the next key needs."""
        if self._typed and not self.typing:
            self.call_later(self._next)

    async def _next(self) -> None:
        if self._typed and not self.typing and not self._waits(self._typed[0]):
            self._rounds_left = ROUNDS
            await super().on_event(self._typed.popleft())
            self._follow_up()

    def _waits(self, typed: events.Key | events.Paste) -> bool:
        return isinstance(typed, events.Key) and self.needs_answer(typed.key)

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

    async def _find_again(self) -> None:
        """A widget that goes takes what waits in its queue along: never wait for that.

        Nor do keys that need no answer wait for long behind those that do.
        """
        if self.typing and self._last_seen == self._last_sent:
            self._follow_up()
        self._last_seen = self._last_sent
        first = self._typed[0] if self._typed and not self.typing else None
        if first and first is self._stuck and not all(map(self._waits, self._typed)):
            while self._waits(self._typed[0]):
                self._typed.popleft()
            await self._next()
        self._stuck = first
