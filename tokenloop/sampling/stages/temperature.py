"""Temperature."""

from __future__ import annotations

import numpy as np

from tokenloop.sampling.candidates import Candidates, Floats
from tokenloop.sampling.stages.stage import Context, Stage


def temperature(left: Candidates, context: Context) -> Candidates:
    """Divide the logits by T; T = 0 keeps the best one (lowest id first among equals)."""
    t = context.settings.temperature
    if t == 0:
        return left if len(left) == 1 else left.keep_indices(left.best(1))
    return left.reshaped(_divided(left.logits, t))


def _divided(logits: Floats, t: float) -> Floats:
    # Around the largest, so that a tiny T sends the others to −inf and never makes a NaN.
    with np.errstate(over="ignore"):
        divided: Floats = (logits - logits.max()) / t
    return divided


def _temperature_off(context: Context) -> str | None:
    return "T = 1 changes nothing" if context.settings.temperature == 1 else None


def _temperature_note(context: Context) -> str | None:
    greedy = context.settings.greedy
    return "greedy: T = 0 takes the best, nothing is drawn" if greedy else None


TEMPERATURE = Stage(
    "temperature",
    lambda context: {"t": context.settings.temperature},
    _temperature_off,
    temperature,
    "one candidate is left",
    _temperature_note,
)
