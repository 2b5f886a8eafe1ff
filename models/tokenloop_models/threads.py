"""How torch's threads wait for each other, which must be settled before torch is imported."""

from __future__ import annotations

import os
import sys

SPIN = "4000"


def wait_without_spinning() -> None:
    """Let torch's threads sleep soon when they wait, unless the person has said otherwise.

    GNU's OpenMP lets a waiting thread spin for milliseconds. Where something else wants its core
    (a screen that is drawn, a busy neighbour) every product then waits for a thread that isn't
    running: on two cores a prefill took 8 s instead of 0.8 s, a decode 230 ms instead of 30. Four
    thousand turns, some forty microseconds, bridge the gaps between the products of one pass: with
    a thousand, a decode that takes 18 ms on an idle machine took 20.
    """
    if "torch" not in sys.modules and "OMP_WAIT_POLICY" not in os.environ:
        os.environ.setdefault("GOMP_SPINCOUNT", SPIN)
