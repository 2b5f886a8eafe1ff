"""Locally typical sampling."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tokenloop.sampling.candidates import Candidates, Floats
from tokenloop.sampling.levels import Side, level_that_reaches, levels_of
from tokenloop.sampling.stages.cutting import may_cut_the_best, replaced, with_min_keep
from tokenloop.sampling.stages.stage import Context, Effect, Stage, Values


def typical_p(left: Candidates, context: Context) -> Effect:
    """Keep those whose surprise is nearest to the expected one, up to a probability of p.

    Meister et al. 2022, "Locally typical sampling": in the order of |−ln p − H|, H the entropy in
    nats, candidates are added up. llama.cpp stops at the first with which the sum is > p.
    transformers (``TypicalLogitsWarper``) at the first with which it is ≥ p, and keeps what is
    just as near. The best one may well be cut.
    """
    settings = context.settings
    llamacpp = settings.order == "llamacpp"
    distances = np.abs(left.surprisals - left.entropy_nats)
    side: Side = "right" if llamacpp else "left"
    levels, level_sums = levels_of(distances.copy(), left.probabilities)
    level, below = level_that_reaches(levels, level_sums, settings.typical_p, side)
    nearest = _nearest_first(level, distances, left)
    sums = below + np.cumsum(left.probabilities[nearest])
    last = min(int(np.searchsorted(sums, settings.typical_p, side=side)), len(nearest) - 1)
    farthest = distances[nearest[last]]
    keep = distances < farthest if llamacpp else distances <= farthest
    keep[nearest[: last + 1]] = True
    least = min(settings.min_keep, len(left))
    if np.count_nonzero(keep) < least:
        near = np.flatnonzero(distances <= np.partition(distances, least - 1)[least - 1])
        keep[_nearest_first(near, distances, left)[:least]] = True
    figures: Values = {"entropy_nats": left.entropy_nats, "farthest_nats": float(farthest)}
    return Effect(left.keep(keep), figures=figures)


def _nearest_first(
    indices: NDArray[np.intp], distances: Floats, left: Candidates
) -> NDArray[np.intp]:
    """By distance; among the equally near the likelier first, then the lowest id."""
    return indices[np.lexsort((-left.logits[indices], distances[indices]))]


def _off(context: Context) -> str | None:
    return "off: p = 1" if context.settings.typical_p == 1 else replaced(context)


def _definition(context: Context) -> str:
    if context.settings.order == "llamacpp":
        return "stops once the sum is above p"
    return "stops once the sum is at least p, keeps what is as near"


TYPICAL_P = Stage(
    "typical_p",
    lambda context: with_min_keep({"p": context.settings.typical_p}, context),
    _off,
    typical_p,
    "all are needed to pass p",
    may_cut_the_best,
    _definition,
)
