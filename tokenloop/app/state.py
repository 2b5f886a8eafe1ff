"""What the app knows of the loop: the last snapshot, the token looked at, the work in hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tokenloop.app.view import View
from tokenloop.app.words import checked_line
from tokenloop.counting import counted
from tokenloop.loop.events import (
    STOPPED,
    Answered,
    Changed,
    Checked,
    Event,
    Failed,
    Finished,
    Loaded,
    Looked,
    Progress,
    RunEnded,
    Started,
)
from tokenloop.sampling.settings import DEFAULT_SEED, SamplerSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    from tokenloop.records import ModelInfo, StepRecord
    from tokenloop.session.snapshot import Snapshot


@dataclass(frozen=True)
class Then:
    """The cursor on an earlier token.

    Attributes:
        position: its index in the prefix.
        request: the question for its record, as long as it is not answered.
        record: the answer; the record of the token looked at before, until it comes.
    """

    position: int
    request: int | None
    record: StepRecord | None


@dataclass(frozen=True)
class Given:
    """A text on its way from the person to the model.

    Attributes:
        command: ``new`` begins on it, ``type`` appends it, ``edit`` puts it in the text's place.
        text: as written.
        specials: whether ``<|…|>`` in it are special tokens.
    """

    command: Literal["new", "type", "edit"]
    text: str
    specials: bool = False


@dataclass(frozen=True)
class Refused:
    """A text that could not be used, and why: the person gets it back."""

    given: Given
    reason: str


class State:
    """Takes the loop's answers in; asks nothing of it.

    Args:
        tell: shows the person one line; the second argument is ``information``, ``warning`` or
            ``error``.
    """

    def __init__(self, tell: Callable[[str, str], None]) -> None:
        self._tell = tell
        self.model: ModelInfo | None = None
        self.snapshot: Snapshot | None = None
        self.then: Then | None = None
        self.answered: Answered | None = None
        self.progress: Progress | None = None
        self.fetching: Progress | None = None
        self.settings = SamplerSettings()
        self.seed = DEFAULT_SEED
        self.landed = 0
        self.paint_ms: float | None = None
        self._pulses = 0
        self._work: dict[int, str] = {}
        self._load_request: int | None = None
        self.given: Given | None = None
        self._refused: Refused | None = None
        self._read_request: int | None = None
        self._run_request: int | None = None
        self._configure_request: int | None = None

    # what the screen asks

    @property
    def loading(self) -> bool:
        """A model is on its way."""
        return self._load_request in self._work

    @property
    def reading(self) -> bool:
        """A text that the person gave is being read."""
        return self.given is not None

    @property
    def opening(self) -> bool:
        """A prompt is being read, which the panels wait for."""
        return self.given is not None and self.given.command == "new"

    @property
    def running(self) -> bool:
        """The loop steps on by itself."""
        return self._run_request in self._work

    @property
    def busy_with(self) -> str | None:
        """The work in hand, for people; ``None`` at rest."""
        return next(iter(self._work.values()), None)

    @property
    def state_words(self) -> str | None:
        """The work in hand as the status line says it; ``None`` at rest."""
        if self.running:
            return "running"
        if self.progress:
            return self.progress.what
        if self.loading or self.opening or self._pulses > 1:
            return self.busy_with
        return None

    def pulse(self) -> bool:
        """Called a few times a second; says whether what is shown of the work changes.

        A step of 25 ms is not announced, or the status would flicker at every key.
        """
        before = self._pulses
        self._pulses = self._pulses + 1 if self._work else 0
        return min(self._pulses, 2) != min(before, 2)

    def take_refused(self) -> Refused | None:
        """The text that could not be used, once."""
        refused, self._refused = self._refused, None
        return refused

    def view(self) -> View:
        """All that the panels draw, as one value."""
        return View(
            model=self.model,
            snapshot=self.snapshot,
            then_position=self.then.position if self.then else None,
            then_record=self.then.record if self.then else None,
            landed=self.landed,
            busy=None if self.snapshot else self.busy_with,
            paint_ms=self.paint_ms,
            given=self.given,
        )

    def waits_for(self, request: int | None) -> bool:
        """Whether a request is still worked on."""
        return request in self._work

    # what the loop answers

    def handle(self, event: Event) -> None:
        """Take an answer in; answers to abandoned requests change nothing."""
        match event:
            case Started(request=request, what=what) if request in self._work:
                self._work[request] = what
            case Progress(request=request) if request in self._work:
                self.progress = event
            case Loaded(request=request, model=model) if request == self._load_request:
                self.model, self.snapshot, self.then = model, None, None
                self._load_request = None
                for notice in model.notices:
                    self._tell(notice, "warning")
            case Changed():
                self._changed(event)
            case Looked(request=request) if self.then and request == self.then.request:
                self.then = Then(event.position, None, event.record)
            case Answered(request=request) if request in self._work:
                self.answered = event
            case Checked(request=request, record=record) if request in self._work:
                self._tell(checked_line(record), "information" if record.same_token else "error")
            case RunEnded(request=request, reason=reason, steps=steps):
                if request == self._run_request:
                    self._run_request = None
                self._tell(f"{reason} · {counted(steps, 'step')}", "information")
            case Failed():
                self._failed(event)
            case Finished(request=request):
                self._work.pop(request, None)
                self._refuse(request, STOPPED)  # called off before the loop began on it
                if self.progress and self.progress.request == request:
                    self.progress = None

    def _changed(self, event: Changed) -> None:
        snapshot = event.snapshot
        if event.request == self._read_request:
            # Read and shown: a key pressed before Finished is here must not be refused.
            self.given = self._read_request = None
        before = len(self.snapshot.prefix) if self.snapshot else 0
        appended = len(snapshot.prefix) - before
        self.landed = max(0, appended) if event.done in ("stepped", "typed") else 0
        self.snapshot, self.model = snapshot, snapshot.model
        if self._configure_request not in self._work or event.request == self._configure_request:
            self.settings, self.seed = snapshot.settings, snapshot.seed
        if self.then and self.then.position >= len(snapshot.prefix):
            self.then = None
        if event.done == "edited":
            cache = snapshot.cache
            self._tell(f"edited: kept {cache.kept:,}, recomputed {cache.computed:,}", "information")

    def _failed(self, event: Failed) -> None:
        if self.then and event.request == self.then.request:
            self.then = None
        if self.snapshot:
            self.settings, self.seed = self.snapshot.settings, self.snapshot.seed
        if not self._refuse(event.request, event.message):
            self._tell(event.message, "information" if event.message == STOPPED else "error")

    def _refuse(self, request: int, reason: str) -> bool:
        """Keep the text that a request was about, if it is still wanted; says whether it is."""
        if self.given is None or request != self._read_request:
            return False
        self._refused = Refused(self.given, reason)
        self.given = self._read_request = None
        return True
