"""Mirostat, version 2: steers the surprise of what is drawn."""

from __future__ import annotations

import math

from tokenloop.sampling.candidates import Candidates
from tokenloop.sampling.settings import SamplerSettings
from tokenloop.sampling.stages.stage import Context, Effect, Stage, Values


def mirostat(left: Candidates, context: Context) -> Effect:
    """Drop what would surprise by more than μ bits; the best one always stays.

    μ begins at 2τ and moves with each draw (:func:`mu_after`): Basu et al. 2021, "Mirostat: a
    neural text decoding algorithm that directly controls perplexity", as llama.cpp's
    ``llama_sampler_init_mirostat_v2`` has it. Surprise is −log₂ of the probability among what
    entered the stage.
    """
    mu = mu_now(context)
    keep = left.probabilities >= 2.0**-mu
    if not keep.any():
        keep[left.best(1)] = True
    after = left.keep(keep)
    return Effect(after, note=f"μ = {mu:.2f} bits", figures={"mu": mu})


def mu_now(context: Context) -> float:
    """μ in bits at this position."""
    mu = context.situation.mu
    return 2 * context.settings.mirostat_tau if mu is None else mu


def mu_after(mu: float | None, probability: float, settings: SamplerSettings) -> float:
    """μ once a token was drawn: μ − η · (surprise − τ).

    Args:
        mu: before the draw, in bits; ``None`` is the beginning, 2τ.
        probability: that the drawn token had in the distribution drawn from.
        settings: τ and η.
    """
    before = 2 * settings.mirostat_tau if mu is None else mu
    surprise = -math.log2(probability)
    return before - settings.mirostat_eta * (surprise - settings.mirostat_tau)


def steers(settings: SamplerSettings) -> bool:
    """Whether mirostat follows what is drawn."""
    return settings.mirostat == 2 and settings.runs("mirostat") and not settings.greedy


def _off(context: Context) -> str | None:
    if context.settings.mirostat == 0:
        return "off: mirostat 0"
    return "off: greedy draws nothing" if context.settings.greedy else None


def _values(context: Context) -> Values:
    settings = context.settings
    return {"tau": settings.mirostat_tau, "eta": settings.mirostat_eta}


def _definition(context: Context) -> str:
    if context.settings.order == "llamacpp":
        return "the only cut: llama.cpp leaves out the others"
    return "beside the other cuts: transformers has no mirostat"


MIROSTAT = Stage(
    "mirostat",
    _values,
    _off,
    mirostat,
    "nothing would surprise by more than μ",
    definition=_definition,
)
