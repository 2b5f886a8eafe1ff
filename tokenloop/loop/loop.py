"""The loop: every command of a session, answered by events.

Every command returns a request number at once. Its answers carry that number and arrive on the
callback, called on the loop's thread, in the order in which things happened: ``Started``, whatever
there is to say, ``Finished``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tokenloop.errors import SettingError
from tokenloop.loop.events import Answered, Checked, Done, Loaded, Looked, Progress
from tokenloop.loop.worker import OnEvent, Run, Worker
from tokenloop.records import Answer, StepRecord
from tokenloop.sampling import DEFAULT_SEED, SamplerSettings
from tokenloop.session import Session
from tokenloop.session.runtime import Runtime

Loader = Callable[..., Runtime]
EXACT = "float32"
"""The dtype that a self-check compares with."""


class Loop(Worker):
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
        self._loader = loader
        self._shown = shown
        self._reload_exactly: Callable[[int], Runtime] | None = None
        super().__init__(on_event)

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

        def read(session: Session, **hooks: Any) -> None:
            session.open(session.encode(text, specials=specials), **hooks)

        return self._send_prefill("opened", read)

    def edit(self, text: str, *, specials: bool = False) -> int:
        """Replace the text; only what changed is encoded and computed."""

        def read(session: Session, **hooks: Any) -> None:
            session.edit(text, specials=specials, **hooks)

        return self._send_prefill("edited", read)

    def type(self, text: str, *, specials: bool = False) -> int:
        """Append text."""

        def read(session: Session, **hooks: Any) -> None:
            session.type(text, specials=specials, **hooks)

        return self._send_prefill("typed", read)

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
            self._run_now = Run(request, _checked(steps))

        return self._send("run", work)

    def regenerate(self, length: int, steps: int | None = None) -> int:
        """Rewind to ``length`` tokens and run on from there."""

        def work(request: int) -> None:
            most = _checked(steps)
            self._ready().rewind_to(length)
            self._changed(request, "rewound")
            self._run_now = Run(request, most)

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
            record = session.check(reference, **self._hooks(request))
            self._on_event(Checked(request=request, record=record))

        return self._send("check", work)

    # --- how they are sent -----------------------------------------------------------------------

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

    def _send_prefill(self, done: Done, read: Callable[..., None]) -> int:
        """Send a command that reads text: ``read(session, progress=…, cancelled=…)``."""
        return self._send_change(
            "prefill", done, lambda session, request: read(session, **self._hooks(request))
        )

    def _send_question(self, what: str, ask: Callable[[Session], Answer]) -> int:
        """Send a question to the laboratory; it changes nothing and ends no run."""

        def work(request: int) -> None:
            self._on_event(Answered(request=request, record=ask(self._ready())))

        return self._send(what, work, ends_run=False)

    def _send_step(self, step: Callable[[Session], StepRecord]) -> int:
        return self._send("step", lambda request: self._stepped(request, step(self._ready())))

    # --- on the loop's thread --------------------------------------------------------------------

    def _hooks(self, request: int) -> dict[str, Any]:
        """What follows a prefill, and what stops it."""

        def progress(done: int, total: int) -> None:
            self._on_event(
                Progress(request=request, what="prefill", done=done, total=total, unit="tokens")
            )

        return {"progress": progress, "cancelled": lambda: self._is_stopped(request)}

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
