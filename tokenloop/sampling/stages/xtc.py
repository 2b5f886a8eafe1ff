"""XTC, "exclude top choices": now and then the obvious is not to be had."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tokenloop.sampling.candidates import Candidates
from tokenloop.sampling.stages.cutting import may_cut_the_best, replaced, with_min_keep
from tokenloop.sampling.stages.stage import Context, Effect, Stage, Values


def xtc(left: Candidates, context: Context) -> Effect:
    """With a given probability, drop all with p ≥ threshold but the least likely of them.

    p-e-w 2024, text-generation-webui's pull request 6335; llama.cpp's ``llama_sampler_init_xtc``.
    The chance comes from seed, position and attempt, as the draw's ``u`` does, and is independent
    of it. Where fewer than ``min_keep`` would be left, nothing is dropped.
    """
    settings, chance = context.settings, context.situation.chance
    top = np.flatnonzero(left.probabilities >= settings.xtc_threshold)
    excluded = max(0, len(top) - 1)
    figures: Values = {"excluded": 0}
    skipped = None
    if not excluded:
        skipped = f"{'one has' if len(top) else 'none has'} p ≥ {settings.xtc_threshold:g}"
    elif len(left) - excluded < settings.min_keep:
        skipped = f"would leave fewer than {settings.min_keep}"
    elif settings.xtc_probability < 1:
        figures["chance"] = chance  # named only where it decides
        if chance >= settings.xtc_probability:
            skipped = f"by chance: {chance:.2f} is not below {settings.xtc_probability:g}"
    if skipped is not None:
        return Effect(left, skipped=skipped, figures=figures)
    keep = np.ones(len(left), dtype=np.bool_)
    keep[top] = False
    keep[_least_likely(top, left)] = True
    note = f"by chance: {chance:.2f} < {settings.xtc_probability:g}, {excluded} excluded"
    return Effect(left.keep(keep), note=note, figures={**figures, "excluded": excluded})


def _least_likely(top: NDArray[np.intp], left: Candidates) -> int:
    """The last of them in the fixed order: among equals the highest id."""
    logits = left.logits[top]
    return int(top[np.flatnonzero(logits == logits.min())[-1]])


def _off(context: Context) -> str | None:
    if context.settings.xtc_probability == 0:
        return "off: probability 0"
    if context.settings.xtc_threshold > 0.5:
        return "off: threshold above 0.5"
    return replaced(context)


def _values(context: Context) -> Values:
    settings = context.settings
    values: Values = {"probability": settings.xtc_probability, "threshold": settings.xtc_threshold}
    return with_min_keep(values, context)


XTC = Stage("xtc", _values, _off, xtc, note=may_cut_the_best)
