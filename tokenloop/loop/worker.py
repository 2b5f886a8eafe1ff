"""The thread that alone touches the session: commands wait in line, what happens becomes events.

During a run it steps each time nothing else waits.
"""

from __future__ import annotations

import itertools
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass

from tokenloop.errors import SessionError, TokenloopError
from tokenloop.labels import clean
from tokenloop.loop.events import (
    STOPPED,
    Changed,
    Done,
    Event,
    Failed,
    Finished,
    RunEnded,
    Started,
)
from tokenloop.records import StepRecord
from tokenloop.session import Session
from tokenloop_models.errors import Cancelled, ModelError

OnEvent = Callable[[Event], None]


@dataclass(frozen=True)
class _Command:
    request: int
    what: str
    work: Callable[[int], None]
    ends_run: bool


@dataclass
class Run:
    """A run in progress.

    Attributes:
        request: what asked for it.
        most: steps at most, or ``None``.
        made: steps so far.
    """

    request: int
    most: int | None
    made: int = 0


class Worker:
    """Carries commands out, one after the other, on a thread of its own.

    Args:
        on_event: called on that thread with every event; it must not block for long.
    """

    def __init__(self, on_event: OnEvent) -> None:
        self._on_event = on_event
        self._session: Session | None = None
        self._run_now: Run | None = None
        self._numbers = itertools.count(1)
        self._last_number = 0
        self._stopped_up_to = 0
        self._commands: queue.SimpleQueue[_Command | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._work, name="tokenloop-loop", daemon=True)
        self._thread.start()

    # --- any thread ------------------------------------------------------------------------------

    def pause(self) -> None:
        """Stop what was asked for so far at its next safe point: a run, a prefill."""
        self._stopped_up_to = self._last_number
        self._commands.put(_Command(0, "wake", lambda _: None, ends_run=False))

    def close(self, timeout: float = 2.0) -> None:
        """End the thread; safe to call twice."""
        self.pause()
        self._commands.put(None)
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout)

    def _send(self, what: str, work: Callable[[int], None], *, ends_run: bool = True) -> int:
        request = next(self._numbers)
        self._last_number = request
        self._commands.put(_Command(request, what, work, ends_run))
        return request

    def _is_stopped(self, request: int) -> bool:
        """Whether a pause came after the request."""
        return request <= self._stopped_up_to

    # --- the thread ------------------------------------------------------------------------------

    def _work(self) -> None:
        while True:
            command = self._next_command()
            if command is None:
                if self._run_now is not None:
                    self._run_step(self._run_now)
                    continue
                return
            if command.what == "wake":
                self._end_run_if_stopped()
                continue
            if command.ends_run:
                self._end_run("interrupted")
            self._carry_out(command)

    def _next_command(self) -> _Command | None:
        """The next command; during a run, ``None`` where none waits."""
        if self._run_now is None:
            return self._commands.get()
        try:
            command = self._commands.get_nowait()
        except queue.Empty:
            return None
        if command is None:
            self._run_now = None
        return command

    def _carry_out(self, command: _Command) -> None:
        request = command.request
        if command.ends_run and self._is_stopped(request):
            self._on_event(Finished(request=request))  # asked for before the pause, not begun
            return
        self._on_event(Started(request=request, what=command.what))
        self._guarded(request, lambda: command.work(request))
        if self._run_now is None or self._run_now.request != request:
            self._on_event(Finished(request=request))

    def _guarded(self, request: int, work: Callable[[], None]) -> bool:
        """Do it; what goes wrong becomes an event, and the thread lives on."""
        try:
            work()
        except Cancelled:
            self._on_event(Failed(request=request, message=STOPPED))
        except (TokenloopError, ModelError) as error:
            self._on_event(Failed(request=request, message=clean(str(error))))
        except MemoryError:
            self._on_event(Failed(request=request, message="not enough memory for that"))
        except Exception as error:
            message = clean(f"unexpected {type(error).__name__}: {error}")
            self._on_event(Failed(request=request, message=message))
        else:
            return True
        return False

    def _run_step(self, run: Run) -> None:
        if self._end_run_if_stopped():
            return
        session = self._ready()
        reason = None
        if session.context_full:
            reason = f"context full at {session.model.context_length:,} positions"
        elif session.ended:
            reason = "end of text"
        elif run.most is not None and run.made >= run.most:
            reason = f"{run.made} steps"
        if reason is not None:
            self._end_run(reason)
            return
        if self._guarded(run.request, lambda: self._stepped(run.request, session.step())):
            run.made += 1
        else:
            self._end_run("failed")

    def _end_run_if_stopped(self) -> bool:
        run = self._run_now
        if run is None or not self._is_stopped(run.request):
            return False
        self._end_run("paused")
        return True

    def _end_run(self, reason: str) -> None:
        run = self._run_now
        if run is None:
            return
        self._run_now = None
        self._on_event(RunEnded(request=run.request, reason=reason, steps=run.made))
        self._on_event(Finished(request=run.request))

    # --- what a command needs --------------------------------------------------------------------

    def _ready(self) -> Session:
        if self._session is None:
            raise SessionError("no model is loaded yet")
        return self._session

    def _stepped(self, request: int, record: StepRecord) -> None:
        self._changed(request, "stepped", record)

    def _changed(self, request: int, done: Done, record: StepRecord | None = None) -> None:
        snapshot = self._ready().snapshot()
        self._on_event(Changed(request=request, done=done, snapshot=snapshot, record=record))
