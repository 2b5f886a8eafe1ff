"""The loop: one thread that owns the session, takes commands and answers with events."""

from tokenloop.loop.events import (
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
from tokenloop.loop.loop import Loop

__all__ = [
    "Answered",
    "Changed",
    "Checked",
    "Event",
    "Failed",
    "Finished",
    "Loaded",
    "Looked",
    "Loop",
    "Progress",
    "RunEnded",
    "Started",
]
