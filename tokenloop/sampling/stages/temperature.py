"""Temperature: one number, or one that follows the entropy."""

from __future__ import annotations

import math

import numpy as np

from tokenloop.sampling.candidates import Candidates
from tokenloop.sampling.stages.cutting import replaced
from tokenloop.sampling.stages.stage import Context, Effect, Stage, Values


def temperature(left: Candidates, context: Context) -> Candidates:
    """Divide the logits by T; T = 0 keeps the best one (lowest id first among equals).

    Ackley et al. 1985, "A learning algorithm for Boltzmann machines".
    """
    return divided(left, context.settings.temperature)


def dynamic_temperature(left: Candidates, context: Context) -> Effect:
    """Divide by T = lo + (hi − lo) · (H / H_max)^exponent: hotter where more is possible.

    lo and hi are temperature ∓ range, lo at least 0; H the entropy of what entered, H_max = ln n
    that of n equal ones. kalomaze 2023; llama.cpp's ``llama_sampler_init_temp_ext``.
    """
    if len(left) == 1:
        return Effect(left)
    settings = context.settings
    low = max(0.0, settings.temperature - settings.dynatemp_range)
    high = settings.temperature + settings.dynatemp_range
    part = min(1.0, left.entropy_nats / math.log(len(left)))
    t = low + (high - low) * part**settings.dynatemp_exponent
    figures: Values = {"t": t, "part": part}
    if t == 1:
        return Effect(left, skipped="T = 1 changes nothing", figures=figures)
    note = f"T = {t:.2f}, the entropy is {part:.0%} of the possible"
    return Effect(divided(left, t), note=note, figures=figures)


def divided(left: Candidates, t: float) -> Candidates:
    """The candidates with their logits divided by a temperature."""
    if t == 0:
        return left.keep_indices(left.best(1))
    largest = left.logits.max()
    with np.errstate(over="ignore"):
        if np.isfinite(largest / t):
            return left.reshaped(left.logits / t)
        # Around the largest, so that a tiny T sends the others to −inf and never makes a NaN.
        return left.reshaped((left.logits - largest) / t)


def _dynamic_off(context: Context) -> str | None:
    settings = context.settings
    if settings.dynatemp_range == 0:
        return "off: range 0"
    if settings.greedy:
        return "off: greedy, T = 0 takes the best"
    return "off: mirostat follows a plain temperature" if replaced(context) else None


def _dynamic_values(context: Context) -> Values:
    settings = context.settings
    return {"range": settings.dynatemp_range, "exponent": settings.dynatemp_exponent}


def _temperature_off(context: Context) -> str | None:
    settings = context.settings
    if settings.runs("dynamic_temperature") and _dynamic_off(context) is None:
        return "off: dynamic temperature divides in its place"
    return "T = 1 changes nothing" if settings.temperature == 1 else None


def _temperature_note(context: Context) -> str | None:
    greedy = context.settings.greedy
    return "greedy: T = 0 takes the best, nothing is drawn" if greedy else None


TEMPERATURE = Stage(
    "temperature",
    lambda context: {"t": context.settings.temperature},
    _temperature_off,
    temperature,
    note=_temperature_note,
)
DYNAMIC_TEMPERATURE = Stage(
    "dynamic_temperature",
    _dynamic_values,
    _dynamic_off,
    dynamic_temperature,
)
