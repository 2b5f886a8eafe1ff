"""Top-n-sigma: a cut by the spread of the logits."""

from __future__ import annotations

import numpy as np

from tokenloop.sampling.candidates import Candidates
from tokenloop.sampling.stages.cutting import leaves_the_best, replaced
from tokenloop.sampling.stages.stage import Context, Effect, Stage


def top_n_sigma(left: Candidates, context: Context) -> Effect:
    """Keep logits ≥ max − n·σ, σ the standard deviation of all that entered.

    Tang et al. 2024, "Top-nσ: not all logits are you need"; the population's σ, as llama.cpp has it
    (``llama_sampler_top_n_sigma_apply``). Whatever temperature stood before, the same are kept: it
    stretches distance and σ alike.
    """
    with np.errstate(over="ignore"):  # a penalty of 1e200 makes σ infinite: it cuts nobody then
        sigma = float(left.logits.std())
    keep = left.logits >= left.logits.max() - context.settings.top_n_sigma * sigma
    return Effect(left.keep(keep), figures={"sigma": sigma})


def _off(context: Context) -> str | None:
    return "off: n = 0" if context.settings.top_n_sigma == 0 else replaced(context)


TOP_N_SIGMA = Stage(
    "top_n_sigma",
    lambda context: {"n": context.settings.top_n_sigma},
    _off,
    top_n_sigma,
    "all are within n · σ of the best",
    leaves_the_best,
)
