"""Capturing, on a stand-in that notes what is asked of CUDA; ``tests/cuda`` has the real thing."""

from __future__ import annotations

import gc
import weakref
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pytest
import torch

from tokenloop_models.cuda_graph import cuda_graphs

if TYPE_CHECKING:
    from collections.abc import Iterator

DEVICE = torch.device("cuda", 1)


class FakeCuda:
    """The current stream, and everything that was asked for, in order."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.current = "main"
        self.breaks_at_end = False

    @contextmanager
    def stream(self, stream: FakeStream) -> Iterator[None]:
        before, self.current = self.current, stream.name
        try:
            yield
        finally:
            self.current = before

    @contextmanager
    def device(self, device: torch.device) -> Iterator[None]:
        assert device == DEVICE
        yield

    def step(self) -> None:
        self.log.append(f"step on {self.current}")


class FakeStream:
    def __init__(self, cuda: FakeCuda, name: str) -> None:
        self.cuda, self.name = cuda, name

    def wait_stream(self, other: FakeStream) -> None:
        self.cuda.log.append(f"{self.name} waits for {other.name}")

    def synchronize(self) -> None:
        self.cuda.log.append(f"we wait for {self.name}")


class FakeGraph:
    def __init__(self, cuda: FakeCuda) -> None:
        self.cuda = cuda

    def capture_begin(self, *, capture_error_mode: str) -> None:
        assert capture_error_mode == "thread_local"
        self.cuda.log.append("begin")

    def capture_end(self) -> None:
        self.cuda.log.append("end")
        if self.cuda.breaks_at_end:
            raise RuntimeError("the capture was broken")

    def replay(self) -> None:
        self.cuda.log.append(f"replay on {self.cuda.current}")


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> FakeCuda:
    cuda = FakeCuda()
    monkeypatch.setattr(torch.cuda, "Stream", lambda _: FakeStream(cuda, "side"))
    monkeypatch.setattr(torch.cuda, "current_stream", lambda: FakeStream(cuda, cuda.current))
    monkeypatch.setattr(torch.cuda, "stream", cuda.stream)
    monkeypatch.setattr(torch.cuda, "device", cuda.device)
    monkeypatch.setattr(torch.cuda, "CUDAGraph", lambda: FakeGraph(cuda))
    return cuda


def test_a_step_runs_once_before_it_is_captured(cuda: FakeCuda) -> None:
    replay = cuda_graphs(DEVICE)(cuda.step)
    assert cuda.log == [
        "side waits for main",
        "step on side",
        "we wait for side",
        "begin",
        "step on side",
        "end",
        "main waits for side",
    ]
    cuda.log.clear()
    replay()
    replay()
    assert cuda.log == ["replay on main"] * 2


def test_a_recording_keeps_the_tensors_of_its_step(cuda: FakeCuda) -> None:
    class Step:
        def __call__(self) -> None:
            cuda.step()

    step = Step()
    still_there = weakref.ref(step)
    replay = cuda_graphs(DEVICE)(step)
    del step
    gc.collect()
    assert still_there() is not None
    del replay
    gc.collect()
    assert still_there() is None


@pytest.mark.parametrize("breaks_at_end", [False, True])
def test_a_step_that_can_not_be_captured_says_so_itself(
    cuda: FakeCuda, breaks_at_end: bool
) -> None:
    """The capture is ended all the same, and the stream of before is current again."""
    cuda.breaks_at_end = breaks_at_end
    calls = iter([None, RuntimeError("operation not permitted when stream is capturing")])

    def step() -> None:
        if (error := next(calls)) is not None:
            raise error

    with pytest.raises(RuntimeError, match="operation not permitted"):
        cuda_graphs(DEVICE)(step)
    assert cuda.log[-1] == "end"
    assert cuda.current == "main"
