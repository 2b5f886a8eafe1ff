"""Penalties on what was seen."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tokenloop.sampling.candidates import Candidates
from tokenloop.sampling.stages.stage import Context, Effect, Stage, Values
from tokenloop.sampling.stages.window import window, window_in_words


def penalty_window(context: Context) -> Sequence[int]:
    """The last tokens, which the penalties look at."""
    return window(context, _size(context))


def _size(context: Context) -> int:
    """llama.cpp's default is the last 64; transformers looks at everything."""
    size = context.settings.repeat_last_n
    if size is None:
        return 64 if context.settings.order == "llamacpp" else -1
    return size


def penalties(left: Candidates, context: Context) -> Candidates | Effect:
    """Make seen tokens less likely: repetition (a factor), then frequency and presence (a sum).

    Repetition as in CTRL (Keskar et al. 2019, §4.1) with the sign rule of both traditions: a
    negative logit times the penalty, a positive one divided by it. Then
    ``logit −= count · frequency + presence`` for each token seen in the window.
    """
    settings = context.settings
    seen = np.asarray(penalty_window(context), dtype=np.int64)
    ids, counts = np.unique(seen, return_counts=True)
    index, present = left.locate(ids)
    index, counts = index[present], counts[present]
    if not len(index):
        return left
    logits = left.logits.copy()
    old = logits[index]
    factor = settings.repeat_penalty
    scaled = np.where(old < 0, old * factor, old / factor)
    logits[index] = scaled - counts * settings.frequency_penalty - settings.presence_penalty
    return Effect(left.reshaped(logits), figures={"penalised": len(index)})


def _penalties_off(context: Context) -> str | None:
    settings = context.settings
    neutral = settings.frequency_penalty == 0 and settings.presence_penalty == 0
    if settings.repeat_penalty == 1 and neutral:
        return "off: repeat 1, frequency 0, presence 0"
    return None if len(penalty_window(context)) else "off: a window of 0 tokens"


def _penalties_values(context: Context) -> Values:
    settings = context.settings
    return {
        "repeat": settings.repeat_penalty,
        "frequency": settings.frequency_penalty,
        "presence": settings.presence_penalty,
        "last_n": len(penalty_window(context)),
    }


def _definition(context: Context) -> str:
    return window_in_words(context, _size(context))


PENALTIES = Stage(
    "penalties",
    _penalties_values,
    _penalties_off,
    penalties,
    "no candidate was seen in the window",
    definition=_definition,
)
