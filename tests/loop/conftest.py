from __future__ import annotations

import queue
import threading
from typing import TYPE_CHECKING

import pytest

from tokenloop.loop import Changed, Event, Finished, Loaded, Loop, Progress, Started
from tokenloop.sampling import SamplerSettings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WAIT = 60.0
OPEN = SamplerSettings(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0)


class Driver:
    """A loop and the events that it has answered with."""

    def __init__(self, **options: object) -> None:
        self.events: queue.Queue[Event] = queue.Queue()
        self.threads: set[threading.Thread] = set()
        self.loop = Loop(self._on_event, **options)

    def _on_event(self, event: Event) -> None:
        self.threads.add(threading.current_thread())
        self.events.put(event)

    def until_finished(self, request: int) -> list[Event]:
        """All events up to the request's ``Finished``."""
        seen: list[Event] = []
        while True:
            event = self.events.get(timeout=WAIT)
            seen.append(event)
            if isinstance(event, Finished) and event.request == request:
                return seen

    def do(self, request: int) -> Event:
        """The one answer between a request's ``Started`` and ``Finished``, progress left out."""
        events = self.until_finished(request)
        assert isinstance(events[0], Started)
        answers = [e for e in events[1:-1] if not isinstance(e, Progress)]
        assert len(answers) == 1
        return answers[0]


@pytest.fixture
def driver(tiny_model_folder: Path) -> Iterator[Driver]:
    driver = Driver()
    loaded = driver.do(driver.loop.load(tiny_model_folder, settings=OPEN, seed=3))
    assert isinstance(loaded, Loaded)
    driver.do(driver.loop.open("the rain"))
    yield driver
    driver.loop.close()


def changed(event: Event) -> Changed:
    assert isinstance(event, Changed), event
    return event
