"""Events on their way from the loop's thread to the screen's."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokenloop.loop.events import Changed, Event, Progress

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Letter:
    """An event and the moment, in seconds of the app's clock, at which it came."""

    event: Event
    arrived: float


class Mailbox:
    """Keeps what the loop said until the screen has time for it.

    A newer snapshot or progress of the same request replaces an older one that was not yet taken,
    so that a loop of 100 steps a second never floods a terminal that draws 30.

    Args:
        wake: called on the loop's thread when the box is no longer empty.
        clock: seconds; only differences count.
    """

    def __init__(self, wake: Callable[[], object], clock: Callable[[], float]) -> None:
        self._wake = wake
        self._clock = clock
        self._letters: deque[Letter] = deque()
        self._lock = threading.Lock()

    def put(self, event: Event) -> None:
        """Take an event in, on whatever thread it comes."""
        letter = Letter(event, self._clock())
        with self._lock:
            was_empty = not self._letters
            if self._letters and replaces(event, self._letters[-1].event):
                self._letters.pop()
            self._letters.append(letter)
        if was_empty:
            self._wake()

    def take(self) -> list[Letter]:
        """Everything that waits, oldest first; the box is empty afterwards."""
        with self._lock:
            letters = list(self._letters)
            self._letters.clear()
        return letters


def replaces(newer: Event, older: Event) -> bool:
    """Whether ``newer`` says all that ``older`` said and what came after."""
    if newer.request != older.request or type(newer) is not type(older):
        return False
    if isinstance(newer, Changed) and isinstance(older, Changed):
        return newer.done == older.done
    return isinstance(newer, Progress)
