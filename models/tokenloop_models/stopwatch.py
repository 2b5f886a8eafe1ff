"""Where the time of a pass goes, on a processor that works at once or one that is handed work."""

from __future__ import annotations

import time
from collections import defaultdict
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Hashable


class Stopwatch:
    """Adds up laps by name.

    On a CPU a lap ends when the call returns. On CUDA work is only queued then, so events are
    queued with it and read once everything is done: nothing waits for the sake of a number.
    """

    def __init__(self, device: torch.device) -> None:
        """Start the first lap."""
        self._device = device
        self._cuda = device.type == "cuda"
        self._laps: list[tuple[Hashable, float]] = []
        self._events: list[tuple[Hashable, torch.cuda.Event]] = []
        self._pace: torch.cuda.Event | None = None
        self._last = time.perf_counter()
        if self._cuda:
            self.lap(None)

    def lap(self, name: Hashable) -> None:
        """End a lap, count it under a name and start the next one."""
        if self._cuda:
            event = torch.cuda.Event(enable_timing=True)  # type: ignore[no-untyped-call]  # torch's
            event.record(torch.cuda.current_stream(self._device))
            self._events.append((name, event))
            return
        now = time.perf_counter()
        self._laps.append((name, (now - self._last) * 1e3))
        self._last = now

    def wait(self) -> None:
        """Wait until CUDA has done all that was queued up to the last lap."""
        if self._cuda:
            self._events[-1][1].synchronize()

    def pace(self) -> None:
        """Wait, on CUDA, until all but the work queued since the last call of this is done.

        So a prefill queues its chunks one ahead of the device and no further: what is told of its
        progress is true but for one chunk, and there is little to wait for once it is cancelled.
        """
        if self._cuda:
            if self._pace is not None:
                self._pace.synchronize()
            self._pace = self._events[-1][1]

    def milliseconds(self) -> dict[Hashable, float]:
        """The sum of each name's laps; waits for CUDA to be done with them."""
        laps = self._laps
        if self._cuda:
            self.wait()
            pairs = zip(self._events, self._events[1:], strict=False)
            laps = [(name, before.elapsed_time(event)) for (_, before), (name, event) in pairs]
        sums: dict[Hashable, float] = defaultdict(float)
        for name, duration in laps:
            sums[name] += duration
        return sums
