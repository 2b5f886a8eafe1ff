"""Smoothing: the logits bent into a parabola."""

from __future__ import annotations

from tokenloop.sampling.candidates import Candidates, Floats
from tokenloop.sampling.stages.stage import Context, Stage, Values


def smoothing(left: Candidates, context: Context) -> Candidates:
    """Bend the logits below the best one: near ones come nearer, far ones fall far behind.

    With d = logit − max ≤ 0, factor f and curve c: max − f · d² · ((3 − c)/2 − (c − 1)/2 · d).
    c = 1 is the plain quadratic, −f·d². Quadratic sampling by kalomaze 2024, as
    text-generation-webui has it (``QuadraticSamplingLogitsWarper``) and koboldcpp
    (``smoothing_factor``; there it bends after T divided).
    """
    factor, curve = context.settings.smoothing_factor, context.settings.smoothing_curve
    largest = left.logits.max()
    below: Floats = left.logits - largest
    bent: Floats = below * ((curve - 1) / 2)
    bent -= (3 - curve) / 2
    bent *= below
    bent *= below
    bent *= factor
    bent += largest
    return left.reshaped(bent)


def _off(context: Context) -> str | None:
    return "off: factor 0" if context.settings.smoothing_factor == 0 else None


def _values(context: Context) -> Values:
    settings = context.settings
    return {"factor": settings.smoothing_factor, "curve": settings.smoothing_curve}


def _note(context: Context) -> str | None:
    if context.settings.smoothing_curve > 3:
        return "a curve above 3 lifts the next best above the best"
    return "greedy: the best one stays the best" if context.settings.greedy else None


SMOOTHING = Stage("smoothing", _values, _off, smoothing, note=_note)
