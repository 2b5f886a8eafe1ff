"""The stages: each one a pure function from candidates to candidates.

A stage gets what is left, the settings and the prefix, and returns what it leaves: the same object
where it does nothing. ``why_off`` says beforehand that its settings turn it off.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tokenloop.errors import SettingError
from tokenloop.sampling.candidates import Candidates, Floats
from tokenloop.sampling.settings import SamplerSettings

Values = dict[str, float | int | str]


@dataclass(frozen=True)
class Context:
    """What a stage may look at besides the candidates.

    Attributes:
        settings: the sampler's.
        prefix: ids before the position to fill, oldest first.
        vocab_size: entries that the model scores; ids lie below it.
    """

    settings: SamplerSettings
    prefix: Sequence[int]
    vocab_size: int


@dataclass(frozen=True)
class Stage:
    """One named step of the chain.

    Attributes:
        name: as in settings, records and on the screen.
        values: the settings it follows, for its record.
        why_off: the reason that it is switched off, or ``None``.
        apply: the step itself.
        no_effect: what to say when it was on and changed nothing.
        note: what else is worth saying of its settings, or ``None``.
    """

    name: str
    values: Callable[[Context], Values]
    why_off: Callable[[Context], str | None]
    apply: Callable[[Candidates, Context], Candidates]
    no_effect: str
    note: Callable[[Context], str | None] = lambda context: None


# --- logit bias ----------------------------------------------------------------------------------


def logit_bias(left: Candidates, context: Context) -> Candidates:
    """Add a bias to chosen logits; minus infinity bans.

    Raises:
        SettingError: a biased id is not in the vocabulary.
    """
    logits = left.logits.copy()
    for token_id, bias in context.settings.logit_bias.items():
        if token_id >= context.vocab_size:
            allowed = f"ids from 0 to {context.vocab_size - 1}"
            raise SettingError("logit_bias", token_id, allowed)
        index = left.find(token_id)
        if index is not None:
            logits[index] += bias
    return left.reshaped(logits)


# --- penalties -----------------------------------------------------------------------------------


def penalty_window(context: Context) -> int:
    """How many last tokens the penalties look at.

    llama.cpp's default is the last 64, transformers looks at everything, the prompt included.
    """
    size = context.settings.repeat_last_n
    if size is None:
        size = 64 if context.settings.order == "llamacpp" else -1
    return len(context.prefix) if size < 0 else min(size, len(context.prefix))


def penalties(left: Candidates, context: Context) -> Candidates:
    """Make seen tokens less likely: repetition (a factor), then frequency and presence (a sum).

    Repetition as in CTRL (Keskar et al. 2019, §4.1) with the sign rule of both traditions: a
    negative logit times the penalty, a positive one divided by it. Then
    ``logit −= count · frequency + presence`` for each token seen in the window.
    """
    settings = context.settings
    window = penalty_window(context)
    seen = np.asarray(context.prefix[len(context.prefix) - window :], dtype=np.int64)
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
    return left.reshaped(logits)


def _penalties_off(context: Context) -> str | None:
    settings = context.settings
    neutral = settings.frequency_penalty == 0 and settings.presence_penalty == 0
    if settings.repeat_penalty == 1 and neutral:
        return "off: repeat 1, frequency 0, presence 0"
    return "off: a window of 0 tokens" if penalty_window(context) == 0 else None


def _penalties_values(context: Context) -> Values:
    settings = context.settings
    return {
        "repeat": settings.repeat_penalty,
        "frequency": settings.frequency_penalty,
        "presence": settings.presence_penalty,
        "last_n": penalty_window(context),
    }


# --- the cuts ------------------------------------------------------------------------------------


def top_k(left: Candidates, context: Context) -> Candidates:
    """Keep the k best (Fan et al. 2018).

    llama.cpp keeps exactly k, transformers also what ties with the k-th.
    """
    k = context.settings.top_k
    if k >= len(left):
        return left
    best = left.best(k)
    if context.settings.order == "transformers":
        return left.keep(left.logits >= left.logits[best[-1]])
    return _keep_indices(left, best)


def _top_k_off(context: Context) -> str | None:
    k = context.settings.top_k
    if k == 0:
        return "off: k = 0"
    if k >= context.vocab_size:
        return f"off: k = {k:,} is the whole vocabulary"
    return None


def top_p(left: Candidates, context: Context) -> Candidates:
    """Keep the smallest set of best candidates of probability ≥ p (Holtzman et al. 2019).

    The candidate that crosses p stays.
    """
    crossing, _, _ = left.reaching(context.settings.top_p)
    kept = left.up_to(crossing)
    return left if len(kept) == len(left) else kept


def _top_p_off(context: Context) -> str | None:
    return "off: p = 1" if context.settings.top_p == 1 else None


def min_p(left: Candidates, context: Context) -> Candidates:
    """Keep what has at least min_p of the best one's probability (Nguyen et al. 2024).

    Compared as logits, logit ≥ best + ln(min_p), which needs no normalisation.
    """
    keep = left.logits >= left.logits.max() + np.log(context.settings.min_p)
    return left if keep.all() else left.keep(keep)


def _min_p_off(context: Context) -> str | None:
    return "off: min_p = 0" if context.settings.min_p == 0 else None


# --- temperature ---------------------------------------------------------------------------------


def temperature(left: Candidates, context: Context) -> Candidates:
    """Divide the logits by T; T = 0 keeps the best one (lowest id first among equals)."""
    t = context.settings.temperature
    if t == 0:
        return left if len(left) == 1 else _keep_indices(left, left.best(1))
    return left.reshaped(_divided(left.logits, t))


def _divided(logits: Floats, t: float) -> Floats:
    # Around the largest, so that a tiny T sends the others to −inf and never makes a NaN.
    with np.errstate(over="ignore"):
        divided: Floats = (logits - logits.max()) / t
    return divided


def _temperature_off(context: Context) -> str | None:
    return "T = 1 changes nothing" if context.settings.temperature == 1 else None


def _temperature_note(context: Context) -> str | None:
    greedy = context.settings.greedy
    return "greedy: T = 0 takes the best, nothing is drawn" if greedy else None


def _keep_indices(left: Candidates, indices: np.ndarray) -> Candidates:
    mask = np.zeros(len(left), dtype=np.bool_)
    mask[indices] = True
    return left.keep(mask)


STAGES: dict[str, Stage] = {
    stage.name: stage
    for stage in (
        Stage(
            "logit_bias",
            lambda context: {"tokens": len(context.settings.logit_bias)},
            lambda context: None if context.settings.logit_bias else "off: no bias set",
            logit_bias,
            "none of the biased tokens is left",
        ),
        Stage(
            "penalties",
            _penalties_values,
            _penalties_off,
            penalties,
            "no candidate was seen in the window",
        ),
        Stage(
            "top_k",
            lambda context: {"k": context.settings.top_k},
            _top_k_off,
            top_k,
            "no more than k are left",
        ),
        Stage(
            "top_p",
            lambda context: {"p": context.settings.top_p},
            _top_p_off,
            top_p,
            "all are needed to reach p",
        ),
        Stage(
            "min_p",
            lambda context: {"min_p": context.settings.min_p},
            _min_p_off,
            min_p,
            "all reach that part of the best",
        ),
        Stage(
            "temperature",
            lambda context: {"t": context.settings.temperature},
            _temperature_off,
            temperature,
            "one candidate is left",
            _temperature_note,
        ),
    )
}
"""Every stage by name."""

ORDERS: dict[str, tuple[str, ...]] = {
    "llamacpp": ("logit_bias", "penalties", "top_k", "top_p", "min_p", "temperature"),
    "transformers": ("logit_bias", "penalties", "temperature", "top_k", "top_p", "min_p"),
}
"""The two traditions' orders (PEERS: llama.cpp's default chain; transformers' warpers)."""
