"""What the loop answers: small frozen values, in the order in which things happened.

Each carries ``request``, the number that the command's call returned, so that a late answer to an
abandoned request can be told and dropped.
"""

from __future__ import annotations

from typing import Literal

from msgspec import Struct

from tokenloop.records import Answer, CheckRecord, ModelInfo, StepRecord
from tokenloop.session.snapshot import Snapshot

Done = Literal[
    "opened", "stepped", "rewound", "rolled", "edited", "typed", "configured", "shown", "watched"
]

STOPPED = "stopped"
"""What :class:`Failed` says of a request that the person called off: no failure."""


class Event(Struct, frozen=True, kw_only=True):
    """Any answer of the loop."""

    request: int


class Started(Event, frozen=True, kw_only=True):
    """The loop begins work on a request (``what`` for people: "step", "prefill", "load")."""

    what: str


class Progress(Event, frozen=True, kw_only=True):
    """Long work goes on: ``done`` of ``total`` units (``total`` 0: not known)."""

    what: str
    done: int
    total: int
    unit: str


class Loaded(Event, frozen=True, kw_only=True):
    """A model is ready (no prompt yet)."""

    model: ModelInfo
    load_ms: float


class Changed(Event, frozen=True, kw_only=True):
    """The session changed: the snapshot is the new truth; ``record`` is there after a step."""

    done: Done
    snapshot: Snapshot
    record: StepRecord | None = None


class Looked(Event, frozen=True, kw_only=True):
    """The record of an earlier position (nothing was recomputed)."""

    position: int
    record: StepRecord


class Checked(Event, frozen=True, kw_only=True):
    """The self-check's outcome."""

    record: CheckRecord


class Answered(Event, frozen=True, kw_only=True):
    """What the laboratory was asked; the session is as it was."""

    record: Answer


class RunEnded(Event, frozen=True, kw_only=True):
    """A run stopped: ``reason`` for people ("end of text", "20 tokens", "paused", …)."""

    reason: str
    steps: int


class Failed(Event, frozen=True, kw_only=True):
    """A request was refused or failed; the session is as it was before it."""

    message: str


class Finished(Event, frozen=True, kw_only=True):
    """The loop is done with a request and at rest if nothing else waits."""
