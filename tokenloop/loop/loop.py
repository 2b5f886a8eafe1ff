"""The loop thread: it alone touches the session; commands go in, events come out.

Every command returns a request number at once. Its answers carry that number and arrive on the
callback, called on this thread, in the order in which things happened: ``Started``, whatever there
is to say, ``Finished``.
"""

from __future__ import annotations

import itertools
import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tokenloop.errors import SessionError, SettingError, TokenloopError
from tokenloop.labels import clean
from tokenloop.loop.events import (
    STOPPED,
    Answered,
    Changed,
    Checked,
    Done,
    Event,
    Failed,
    Finished,
    Loaded,
    Looked,
    Progress,
    RunEnded,
    Started,
)
from tokenloop.records import Answer, StepRecord
from tokenloop.sampling import DEFAULT_SEED, SamplerSettings
from tokenloop.session import Session
from tokenloop.session.runtime import Runtime
from tokenloop_models.errors import Cancelled, ModelError

Loader = Callable[..., Runtime]
EXACT = "float32"
"""The dtype that a self-check compares with."""

OnEvent = Callable[[Event], None]


@dataclass(frozen=True)
class _Command:
    request: int
    what: str
    work: Callable[[int], None]
    ends_run: bool


@dataclass
class _Run:
    """A run in progress: one step each time nothing else waits."""

    request: int
    most: int | None
    made: int = 0


class Loop:
    """Drives one session on its own thread.

    Args:
        on_event: called on the loop's thread with every event; it must not block for long.
        loader: loads a model, called as ``loader(source, device=…, dtype=…, precision=…,
            threads=…, progress=…)``; the decoder runtime's own unless given.
        shown: candidates that a record shows.
    """

    def __init__(
        self, on_event: OnEvent, *, loader: Loader | None = None, shown: int | None = None
    ) -> None:
        self._on_event = on_event
        self._loader = loader
        self._shown = shown
        self._session: Session | None = None
        self._numbers = itertools.count(1)
        self._last_number = 0
        self._stopped_up_to = 0
        self._commands: queue.SimpleQueue[_Command | None] = queue.SimpleQueue()
        self._run_now: _Run | None = None
        self._reload_exactly: Callable[[int], Runtime] | None = None
        self._thread = threading.Thread(target=self._work, name="tokenloop-loop", daemon=True)
        self._thread.start()

    # --- commands: any thread --------------------------------------------------------------------

    def load(
        self,
        source: str | Path,
        *,
        device: str = "auto",
        dtype: str = "auto",
        precision: str = "exact",
        threads: int | None = None,
        settings: SamplerSettings | None = None,
        seed: int = DEFAULT_SEED,
    ) -> int:
        """Load a model and begin a session with it; the old one stays until it is ready."""

        def work(request: int) -> None:
            start = time.perf_counter()
            runtime = self._load_model(source, device, dtype, precision, threads, request)
            self._reload_exactly = lambda request: self._load_model(
                source, device, EXACT, "exact", threads, request
            )
            shown = {} if self._shown is None else {"shown": self._shown}
            session = Session(runtime, settings=settings, seed=seed, **shown)
            self._session = session
            load_ms = (time.perf_counter() - start) * 1e3
            self._on_event(Loaded(request=request, model=session.model, load_ms=load_ms))

        return self._send("load", work)

    def open(self, text: str, *, specials: bool = False) -> int:
        """Begin with a prompt: encode it, read it in one prefill."""

        def change(session: Session, request: int) -> None:
            session.open(
                session.encode(text, specials=specials),
                progress=self._prefill_progress(request),
                cancelled=lambda: self._is_stopped(request),
            )

        return self._send_change("prefill", "opened", change)

    def edit(self, text: str, *, specials: bool = False) -> int:
        """Replace the text; only what changed is encoded and computed."""

        def change(session: Session, request: int) -> None:
            session.edit(
                text,
                specials=specials,
                progress=self._prefill_progress(request),
                cancelled=lambda: self._is_stopped(request),
            )

        return self._send_change("prefill", "edited", change)

    def type(self, text: str, *, specials: bool = False) -> int:
        """Append text."""

        def change(session: Session, request: int) -> None:
            session.type(
                text,
                specials=specials,
                progress=self._prefill_progress(request),
                cancelled=lambda: self._is_stopped(request),
            )

        return self._send_change("prefill", "typed", change)

    def step(self) -> int:
        """Make the pending draw fact."""
        return self._send_step(lambda session: session.step())

    def force(self, token_id: int) -> int:
        """Append a candidate of the person's choice."""
        return self._send_step(lambda session: session.force(token_id))

    def resample(self) -> int:
        """Rewind one, roll, step."""
        return self._send_step(lambda session: session.resample())

    def rewind(self, count: int = 1) -> int:
        """Drop tokens from the end."""
        return self._send_change("rewind", "rewound", lambda session, _: session.rewind(count))

    def rewind_to(self, length: int) -> int:
        """Keep the first ``length`` tokens."""
        return self._send_change("rewind", "rewound", lambda session, _: session.rewind_to(length))

    def roll(self) -> int:
        """Roll again: no pass."""
        return self._send_change("roll", "rolled", lambda session, _: session.roll())

    def run(self, steps: int | None = None) -> int:
        """Step on until the text ends, ``steps`` were made, the context is full, or a pause."""

        def work(request: int) -> None:
            self._ready()
            self._run_now = _Run(request, _checked(steps))

        return self._send("run", work)

    def regenerate(self, length: int, steps: int | None = None) -> int:
        """Rewind to ``length`` tokens and run on from there."""

        def work(request: int) -> None:
            most = _checked(steps)
            self._ready().rewind_to(length)
            self._changed(request, "rewound")
            self._run_now = _Run(request, most)

        return self._send("run", work)

    def configure(self, settings: SamplerSettings) -> int:
        """Change the sampler; redraws from the held logits. A run goes on with them."""
        return self._send_change(
            "configure",
            "configured",
            lambda session, _: session.configure(settings),
            ends_run=False,
        )

    def reseed(self, seed: int) -> int:
        """Change the seed. A run goes on with it."""
        return self._send_change(
            "configure", "configured", lambda session, _: session.reseed(seed), ends_run=False
        )

    def show(self, count: int) -> int:
        """Show so many candidates from now on. A run goes on."""
        return self._send_change(
            "show", "shown", lambda session, _: session.show(count), ends_run=False
        )

    def watch(self, token_id: int) -> int:
        """Pin a token, or unpin it. A run goes on."""
        return self._send_change(
            "watch", "watched", lambda session, _: session.watch(token_id), ends_run=False
        )

    def draws(self, count: int) -> int:
        """Draw many times from the held distribution: answered with ``Answered``."""
        return self._send_question("draws", lambda session: session.draws(count))

    def sweep(self, setting: str) -> int:
        """Run the chain over a range of one setting: answered with ``Answered``."""
        return self._send_question("sweep", lambda session: session.sweep(setting))

    def compare(self, left: tuple[str, SamplerSettings], right: tuple[str, SamplerSettings]) -> int:
        """Run two named settings on the held logits: answered with ``Answered``."""
        return self._send_question("compare", lambda session: session.compare(left, right))

    def find(self, query: str) -> int:
        """Search the whole vocabulary: answered with ``Answered``."""
        return self._send_question("search", lambda session: session.find(query))

    def look(self, position: int) -> int:
        """Ask for the record of an earlier token: nothing is recomputed."""

        def work(request: int) -> None:
            record = self._ready().look(position)
            self._on_event(Looked(request=request, position=position, record=record))

        return self._send("look", work, ends_run=False)

    def check(self) -> int:
        """Compute the prefix afresh in float32 and compare: answered with ``Checked``.

        A model that runs in another dtype or precision is loaded once more, exactly, for it.
        """

        def work(request: int) -> None:
            session = self._ready()
            reference = None
            if not session.model.exact and self._reload_exactly is not None:
                reference = self._reload_exactly(request)
            record = session.check(
                reference,
                progress=self._prefill_progress(request),
                cancelled=lambda: self._is_stopped(request),
            )
            self._on_event(Checked(request=request, record=record))

        return self._send("check", work)

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

    # --- the thread ------------------------------------------------------------------------------

    def _send(self, what: str, work: Callable[[int], None], *, ends_run: bool = True) -> int:
        request = next(self._numbers)
        self._last_number = request
        self._commands.put(_Command(request, what, work, ends_run))
        return request

    def _send_change(
        self,
        what: str,
        done: Done,
        change: Callable[[Session, int], object],
        *,
        ends_run: bool = True,
    ) -> int:
        """Send a command that changes the session, called as ``change(session, request)``."""

        def work(request: int) -> None:
            change(self._ready(), request)
            self._changed(request, done)

        return self._send(what, work, ends_run=ends_run)

    def _send_question(self, what: str, ask: Callable[[Session], Answer]) -> int:
        """Send a question to the laboratory; it changes nothing and ends no run."""

        def work(request: int) -> None:
            self._on_event(Answered(request=request, record=ask(self._ready())))

        return self._send(what, work, ends_run=False)

    def _send_step(self, step: Callable[[Session], StepRecord]) -> int:
        return self._send("step", lambda request: self._stepped(request, step(self._ready())))

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

    def _run_step(self, run: _Run) -> None:
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

    def _is_stopped(self, request: int) -> bool:
        """Whether a pause came after the request."""
        return request <= self._stopped_up_to

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

    # --- answers ---------------------------------------------------------------------------------

    def _ready(self) -> Session:
        if self._session is None:
            raise SessionError("no model is loaded yet")
        return self._session

    def _stepped(self, request: int, record: StepRecord) -> None:
        self._changed(request, "stepped", record)

    def _changed(self, request: int, done: Done, record: StepRecord | None = None) -> None:
        snapshot = self._ready().snapshot()
        self._on_event(Changed(request=request, done=done, snapshot=snapshot, record=record))

    def _prefill_progress(self, request: int) -> Callable[[int, int], None]:
        def report(done: int, total: int) -> None:
            self._on_event(
                Progress(request=request, what="prefill", done=done, total=total, unit="tokens")
            )

        return report

    def _load_model(
        self,
        source: str | Path,
        device: str,
        dtype: str,
        precision: str,
        threads: int | None,
        request: int,
    ) -> Runtime:
        def report(what: str, done: int, total: int) -> None:
            self._on_event(Progress(request=request, what=what, done=done, total=total, unit=""))

        load = self._loader if self._loader is not None else _default_loader()
        return load(
            source,
            device=device,
            dtype=dtype,
            precision=precision,
            threads=threads,
            progress=report,
        )


def _checked(steps: int | None) -> int | None:
    if steps is not None and steps < 1:
        raise SettingError("steps", steps, "a whole number from 1")
    return steps


def _default_loader() -> Loader:
    # Imported on the loop's thread and only when a model is about to load: torch takes seconds.
    from tokenloop_models import load

    return load
