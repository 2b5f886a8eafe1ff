"""What the passes of a session cost so far."""

from __future__ import annotations

from collections import deque

from tokenloop.records import Latency, LatencyHistory

REMEMBERED = 256
"""Decode steps that the history remembers."""


class History:
    """The last passes' latencies."""

    def __init__(self) -> None:
        self._steps_ms: deque[float] = deque(maxlen=REMEMBERED)
        self._prefill: Latency | None = None
        self._decode: Latency | None = None
        self._last: Latency | None = None

    def add(self, latency: Latency) -> None:
        """Note one pass."""
        self._last = latency
        if latency.positions > 1:
            self._prefill = latency
        else:
            self._decode = latency
            self._steps_ms.append(latency.total)

    def record(self) -> LatencyHistory:
        """As the latency panel wants it."""
        return LatencyHistory(
            steps_ms=tuple(self._steps_ms),
            prefill=self._prefill,
            decode=self._decode,
            last=self._last,
        )
