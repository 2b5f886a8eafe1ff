"""What the passes of a session cost so far."""

from __future__ import annotations

from collections import deque

from tokenloop.records import Latency, LatencyHistory

REMEMBERED = 256
"""Steps that the history remembers."""


class History:
    """The last passes' latencies."""

    def __init__(self) -> None:
        self._steps_ms: deque[float] = deque(maxlen=REMEMBERED)
        self._prefill: Latency | None = None
        self._decode: Latency | None = None
        self._last: Latency | None = None
        self._last_is_step = False
        self._redraw_ms: float | None = None

    def add(self, latency: Latency, *, step: bool) -> None:
        """Note one pass.

        Args:
            latency: what it cost.
            step: whether a step ran it. A pass over one given token, or one that brings logits
                back, computes one position too and is none.
        """
        self._last, self._last_is_step, self._redraw_ms = latency, step, None
        if latency.positions > 1:
            self._prefill = latency
        else:
            self._decode = latency
        if step:
            self._steps_ms.append(latency.total)

    def redrawn(self, sample_ms: float) -> None:
        """Note that the sampler drew anew from held logits: no pass ran.

        Args:
            sample_ms: what it took.
        """
        self._redraw_ms = sample_ms

    def record(self) -> LatencyHistory:
        """As the latency panel wants it."""
        return LatencyHistory(
            steps_ms=tuple(self._steps_ms),
            prefill=self._prefill,
            decode=self._decode,
            last=self._last,
            last_is_step=self._last_is_step,
            redraw_ms=self._redraw_ms,
        )
