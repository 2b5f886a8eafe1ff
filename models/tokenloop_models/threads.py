"""How torch's threads wait for each other, which must be settled before torch is imported."""

from __future__ import annotations

import os
import sys

SPIN = "1000"


def wait_without_spinning() -> None:
    """Let torch's threads sleep soon when they wait, unless the person has said otherwise.

    GNU's OpenMP lets a waiting thread spin for milliseconds. Where something else wants its core
    (a screen that is drawn, a busy neighbour) every product then waits for a thread that isn't
    running: on two cores a prefill took 8 s instead of 0.8 s, a decode 230 ms instead of 30. A
    thousand turns, some ten microseconds, bridge the gaps between the products of one pass, so
    that an idle machine loses almost nothing.
    """
    if "torch" not in sys.modules and "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", SPIN)
