"""Epsilon and eta: cuts at a probability."""

from __future__ import annotations

import math

from tokenloop.sampling.candidates import Candidates
from tokenloop.sampling.stages.cutting import cut_by_level, leaves_the_best, replaced, with_min_keep
from tokenloop.sampling.stages.stage import Context, Effect, Stage


def epsilon_cutoff(left: Candidates, context: Context) -> Candidates:
    """Drop p < ε, whatever the distribution looks like.

    Hewitt et al. 2022, "Truncation sampling as language model desmoothing"; transformers'
    ``EpsilonLogitsWarper``. The best one always stays, and what ties with it.
    """
    return cut_by_level(left, left.probabilities >= context.settings.epsilon_cutoff, context)


def eta_cutoff(left: Candidates, context: Context) -> Effect:
    """Drop p < η = min(ε, √ε · e^−H), H the entropy in nats: less is cut where much is possible.

    Hewitt et al. 2022; transformers' ``EtaLogitsWarper``. The best one always stays, and what ties
    with it.
    """
    epsilon = context.settings.eta_cutoff
    eta = min(epsilon, math.sqrt(epsilon) * math.exp(-left.entropy_nats))
    after = cut_by_level(left, left.probabilities >= eta, context)
    return Effect(after, note=f"η = {eta:.2g}", figures={"eta": eta})


def _epsilon_off(context: Context) -> str | None:
    return "off: ε = 0" if context.settings.epsilon_cutoff == 0 else replaced(context)


def _eta_off(context: Context) -> str | None:
    return "off: ε = 0" if context.settings.eta_cutoff == 0 else replaced(context)


EPSILON_CUTOFF = Stage(
    "epsilon_cutoff",
    lambda context: with_min_keep({"epsilon": context.settings.epsilon_cutoff}, context),
    _epsilon_off,
    epsilon_cutoff,
    "all have at least ε",
    leaves_the_best,
)
ETA_CUTOFF = Stage(
    "eta_cutoff",
    lambda context: with_min_keep({"epsilon": context.settings.eta_cutoff}, context),
    _eta_off,
    eta_cutoff,
    "all have at least η",
    leaves_the_best,
)
