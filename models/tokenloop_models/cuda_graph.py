"""Recording on CUDA: a graph is captured once and launched as one thing from then on.

A step is 15 operations a layer, most of them shorter than the time that Python takes to queue one;
a graph queues them all at once.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tokenloop_models.recorded import Recorder, Replay


class Recording:
    """A captured step.

    The step is kept with it: the graph knows no tensors, only the addresses that they had.
    """

    __slots__ = ("_graph", "_step")

    def __init__(self, graph: torch.cuda.CUDAGraph, step: Replay) -> None:
        """Keep both."""
        self._graph = graph
        self._step = step

    def __call__(self) -> None:
        """Queue it once more, on the current stream."""
        self._graph.replay()


def cuda_graphs(device: torch.device) -> Recorder:
    """Make a recorder for a CUDA device."""
    stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]  # torch's

    def record(step: Replay) -> Replay:
        with torch.cuda.device(device):
            stream.wait_stream(torch.cuda.current_stream())
            with torch.cuda.stream(stream):
                # once as it is: libraries take their workspaces and choose their kernels, which
                # can't be done while a graph is captured
                step()
                stream.synchronize()
                graph = _captured(step)
            torch.cuda.current_stream().wait_stream(stream)
        return Recording(graph, step)

    return record


def _captured(step: Replay) -> torch.cuda.CUDAGraph:
    """Capture a step on the current stream.

    ``torch.cuda.graph`` does the same, but leaves the stream current when a capture fails, and in
    some releases collects garbage first, which in an app takes longer than the capture.
    """
    graph = torch.cuda.CUDAGraph()
    # other threads may use CUDA meanwhile: only this one's calls may break a capture
    graph.capture_begin(capture_error_mode="thread_local")
    try:
        step()
    except Exception:
        with suppress(RuntimeError):  # it says only that the capture is broken
            graph.capture_end()
        raise
    graph.capture_end()
    return graph
