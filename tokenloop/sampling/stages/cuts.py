"""The cuts that everyone has: top-k, top-p, min-p."""

from __future__ import annotations

import numpy as np

from tokenloop.sampling.candidates import Candidates
from tokenloop.sampling.stages.stage import Context, Stage


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
    return left.keep_indices(best)


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


TOP_K = Stage(
    "top_k",
    lambda context: {"k": context.settings.top_k},
    _top_k_off,
    top_k,
    "no more than k are left",
)
TOP_P = Stage(
    "top_p",
    lambda context: {"p": context.settings.top_p},
    _top_p_off,
    top_p,
    "all are needed to reach p",
)
MIN_P = Stage(
    "min_p",
    lambda context: {"min_p": context.settings.min_p},
    _min_p_off,
    min_p,
    "all reach that part of the best",
)
