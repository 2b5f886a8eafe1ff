"""Models on this machine, and getting a missing one: on a thread that the app owns."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokenloop.loop.events import Progress

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

STOP_SECONDS = 2.0


@dataclass(frozen=True)
class Offer:
    """A catalogue model that is not on this machine: its name, its title, its bytes."""

    name: str
    title: str
    size: int


class Supply:
    """Pulls a model of the catalogue or the hub without stopping the screen.

    Args:
        changed: called on the pull's thread after every change; see :attr:`progress`.
    """

    def __init__(self, changed: Callable[[], object]) -> None:
        self._changed = changed
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None
        self.progress: Progress | None = None
        self._failure: str | None = None
        self._arrived: str | None = None

    @property
    def pulling(self) -> bool:
        """A pull is going on."""
        return self._thread is not None and self._thread.is_alive()

    def pull(self, name: str) -> None:
        """Begin to get ``name``; does nothing while a pull goes on."""
        if self.pulling:
            return
        self._stop.clear()
        self._failure = self._arrived = None
        self.progress = Progress(request=0, what="getting it", done=0, total=0, unit="bytes")
        self._thread = threading.Thread(
            target=self._pull, args=(name,), name="tokenloop-pull", daemon=True
        )
        self._thread.start()

    def call_off(self) -> None:
        """Have the pull stop soon."""
        self._stop.set()

    def stop(self) -> None:
        """Call the pull off and wait a moment until what is incomplete was thrown away."""
        self._stop.set()
        if self._thread is not None:
            self._thread.join(STOP_SECONDS)

    def take_arrived(self) -> str | None:
        """The model that a pull got, once."""
        arrived, self._arrived = self._arrived, None
        return arrived

    def take_failure(self) -> str | None:
        """Why a pull failed, once."""
        failure, self._failure = self._failure, None
        return failure

    def _pull(self, name: str) -> None:
        from tokenloop_models.errors import Cancelled, ModelError
        from tokenloop_models.fetch import pull

        def progress(what: str, done: int, total: int) -> None:
            self.progress = Progress(request=0, what=what, done=done, total=total, unit="bytes")
            self._changed()

        try:
            pull(name, progress, cancelled=self._stop.is_set)
            self._arrived = name
        except Cancelled:
            self._failure = "called off"
        except ModelError as error:
            self._failure = str(error)
        except OSError as error:
            self._failure = f"{name} could not be fetched: {error}"
        self.progress = None
        self._changed()


def offer_for(source: str | Path) -> Offer | None:
    """What could be pulled for a source that is in the catalogue but not on this machine."""
    from tokenloop_models.catalogue import CATALOGUE
    from tokenloop_models.finding import on_this_machine

    entry = CATALOGUE.get(source) if isinstance(source, str) else None
    if entry is None or on_this_machine(entry) is not None:
        return None
    return Offer(entry.name, entry.title, entry.size)


def must_be_fetched(source: str) -> bool:
    """Whether a source is in the catalogue or a hub id, and not on this machine.

    Raises:
        ModelError: it is a hub id that asks for a file that is no model, or no source at all.
    """
    from tokenloop_models.finding import missing_from_hub

    return offer_for(source) is not None or missing_from_hub(source) is not None


def title_of(source: str | Path) -> str:
    """What to call a source before it is loaded."""
    from tokenloop_models.catalogue import CATALOGUE

    entry = CATALOGUE.get(source) if isinstance(source, str) else None
    return entry.title if entry else str(source)
