"""Small distributions, and the chain run on them with everything off but what is set."""

from __future__ import annotations

from typing import Any

import numpy as np

from tokenloop.sampling import (
    Outcome,
    SamplerSettings,
    Situation,
    Trace,
    raw_candidates,
    run_chain,
)

P = (0.5, 0.25, 0.15, 0.1)

OFF: dict[str, Any] = {"temperature": 1.0, "top_k": 0, "top_p": 1.0, "min_p": 0.0}
"""What of the defaults is on, turned off."""


def logits_of(*probabilities: float) -> np.ndarray:
    return np.log(np.array(probabilities, dtype=np.float64)).astype(np.float32)


def chain_on(
    logits: np.ndarray, situation: Situation | None = None, order: str = "llamacpp", **settings: Any
) -> Trace:
    """The chain on logits, everything off but ``settings``."""
    return run_chain(
        raw_candidates(logits),
        situation or Situation(),
        SamplerSettings(order=order, **{**OFF, **settings}),
    )


def chain(
    *,
    p: tuple[float, ...] = P,
    prefix: tuple[int, ...] = (),
    order: str = "llamacpp",
    situation: Situation | None = None,
    **settings: Any,
) -> Trace:
    """The chain on probabilities, everything off but ``settings``."""
    return chain_on(logits_of(*p), situation or Situation(prefix), order, **settings)


def final(trace: Trace) -> dict[int, float]:
    return dict(zip(trace.final.ids.tolist(), trace.final.probabilities.tolist(), strict=True))


def outcome(trace: Trace, name: str) -> Outcome:
    return next(outcome for outcome in trace.outcomes if outcome.name == name)
