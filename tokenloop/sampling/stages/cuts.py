"""The cuts that everyone has: top-k, top-p, min-p."""

from __future__ import annotations

import numpy as np

from tokenloop.sampling.candidates import Candidates
from tokenloop.sampling.stages.cutting import cut, leaves_the_best, replaced, with_min_keep
from tokenloop.sampling.stages.stage import Context, Stage


def top_k(left: Candidates, context: Context) -> Candidates:
    """Keep the k best (Fan et al. 2018, "Hierarchical neural story generation").

    llama.cpp keeps exactly k, transformers (``TopKLogitsWarper``) also what ties with the k-th, and
    no fewer than ``min_keep``.
    """
    k = context.settings.top_k
    if context.settings.order == "llamacpp":
        return left if k >= len(left) else left.keep_indices(left.best(k))
    k = max(k, context.settings.min_keep)
    if k >= len(left):
        return left
    keep = left.logits >= left.logits[left.best(k)[-1]]
    return left.keep(keep)


def _top_k_off(context: Context) -> str | None:
    k = context.settings.top_k
    if k == 0:
        return "off: k = 0"
    if k >= context.vocab_size:
        return f"off: k = {k:,} is the whole vocabulary"
    return replaced(context)


def _top_k_definition(context: Context) -> str:
    exactly = context.settings.order == "llamacpp"
    return "exactly k" if exactly else "k, and what ties with the k-th"


def top_p(left: Candidates, context: Context) -> Candidates:
    """Keep the smallest set of best candidates of probability ≥ p, the crossing one included.

    Holtzman et al. 2019, "The curious case of neural text degeneration". Both traditions leave at
    least ``min_keep``.
    """
    crossing, _, _ = left.reaching(context.settings.top_p)
    kept = left.up_to(crossing)
    least = min(context.settings.min_keep, len(left))
    return kept if len(kept) >= least else left.keep_indices(left.best(least))


def _top_p_off(context: Context) -> str | None:
    return "off: p = 1" if context.settings.top_p == 1 else replaced(context)


def min_p(left: Candidates, context: Context) -> Candidates:
    """Keep what has at least min_p of the best one's probability (Nguyen et al. 2024).

    Compared as logits, logit ≥ best + ln(min_p), which needs no normalisation.
    """
    floor = left.logits.max() + np.log(context.settings.min_p)
    return cut(left, left.logits >= floor, context)


def _min_p_off(context: Context) -> str | None:
    return "off: min_p = 0" if context.settings.min_p == 0 else replaced(context)


TOP_K = Stage(
    "top_k",
    lambda context: {"k": context.settings.top_k},
    _top_k_off,
    top_k,
    "no more than k are left",
    leaves_the_best,
    _top_k_definition,
)
TOP_P = Stage(
    "top_p",
    lambda context: with_min_keep({"p": context.settings.top_p}, context),
    _top_p_off,
    top_p,
    "all are needed to reach p",
    leaves_the_best,
)
MIN_P = Stage(
    "min_p",
    lambda context: with_min_keep({"min_p": context.settings.min_p}, context),
    _min_p_off,
    min_p,
    "all reach that part of the best",
    leaves_the_best,
)
