"""Laps add up by name, on a CPU and on a device that is handed work."""

from __future__ import annotations

import itertools
import time

import pytest
import torch

from tokenloop_models.stopwatch import Stopwatch


@pytest.fixture
def ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that goes on by a second each time it is read."""
    seconds = itertools.count(start=10.0)
    monkeypatch.setattr(time, "perf_counter", lambda: next(seconds))


@pytest.mark.usefixtures("ticks")
def test_laps_of_one_name_add_up() -> None:
    watch = Stopwatch(torch.device("cpu"))
    for name in ("layers", "head", "layers", 3):
        watch.lap(name)
    assert watch.milliseconds() == {"layers": 2000.0, "head": 1000.0, 3: 1000.0}


class FakeEvent:
    """Stands where CUDA's event would: each is queued 5 ms after the one before."""

    queued = 0
    waited_for: FakeEvent | None = None

    def __init__(self, *, enable_timing: bool) -> None:
        assert enable_timing
        self.at = -1

    def record(self, stream: str) -> None:
        assert stream == "stream of cuda:1"
        FakeEvent.queued += 1
        self.at = 5 * FakeEvent.queued

    def synchronize(self) -> None:
        FakeEvent.waited_for = self

    def elapsed_time(self, other: FakeEvent) -> float:
        assert FakeEvent.waited_for is not None
        return other.at - self.at


def test_cuda_laps_are_read_from_events_after_one_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "Event", FakeEvent)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: f"stream of {device}")
    watch = Stopwatch(torch.device("cuda", 1))
    for name in ("layers", "head", "layers"):
        watch.lap(name)
    assert FakeEvent.waited_for is None
    assert watch.milliseconds() == {"layers": 10.0, "head": 5.0}
