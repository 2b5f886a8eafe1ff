"""What the cuts have in common: the fewest they leave, and when they stand back."""

from __future__ import annotations

import numpy as np

from tokenloop.sampling.candidates import Candidates, Mask
from tokenloop.sampling.stages.mirostat import steers
from tokenloop.sampling.stages.stage import Context, Values


def cut(left: Candidates, keep: Mask, context: Context) -> Candidates:
    """Keep where ``keep`` (n,) is true, and of the best at least ``min_keep``."""
    if np.count_nonzero(keep) < min(context.settings.min_keep, len(left)):
        keep[left.best(context.settings.min_keep)] = True
    return left.keep(keep)


def cut_by_level(left: Candidates, keep: Mask, context: Context) -> Candidates:
    """The same, but with the last of the ``min_keep`` best stays whatever ties with it."""
    if np.count_nonzero(keep) < min(context.settings.min_keep, len(left)):
        keep |= left.logits >= left.logits[left.best(context.settings.min_keep)[-1]]
    return left.keep(keep)


def replaced(context: Context) -> str | None:
    """Why no cut but mirostat's acts, or ``None``.

    llama.cpp's chain with mirostat holds none of its other cuts (``common_sampler_init`` in
    ``common/sampling.cpp``).
    """
    settings = context.settings
    if settings.order == "llamacpp" and steers(settings):
        return "off: mirostat cuts in its place"
    return None


def leaves_the_best(context: Context) -> str | None:
    """What a cut that always leaves the best one is worth at T = 0."""
    return "greedy: the best one stays, whatever this cuts" if context.settings.greedy else None


def may_cut_the_best(context: Context) -> str | None:
    """What a cut that may take the best one is worth at T = 0."""
    return "greedy: matters, for it may cut the best one" if context.settings.greedy else None


def with_min_keep(values: Values, context: Context) -> Values:
    """A cut's settings, with the fewest that it leaves where that is more than one."""
    least = context.settings.min_keep
    return values if least == 1 else {**values, "min_keep": least}
