"""Logit bias: what a person adds to single tokens, and which ones a person bans."""

from __future__ import annotations

import numpy as np

from tokenloop.sampling.candidates import Candidates
from tokenloop.sampling.stages.banning import check_ids
from tokenloop.sampling.stages.naming import listed, named
from tokenloop.sampling.stages.stage import Context, Effect, Stage, Values


def logit_bias(left: Candidates, context: Context) -> Effect:
    """Add a bias to chosen logits; minus infinity bans.

    As OpenAI's and llama.cpp's ``logit_bias``, and transformers' ``SequenceBiasLogitsProcessor``
    for sequences of one token.

    Raises:
        SettingError: a biased id is not in the vocabulary.
    """
    ids = np.array(list(context.settings.logit_bias), dtype=np.int64)
    biases = np.array(list(context.settings.logit_bias.values()), dtype=np.float64)
    check_ids("logit_bias", ids, context)
    index, here = left.locate(ids)
    if not here.any():
        return Effect(left)
    logits = left.logits.copy()
    logits[index[here]] += biases[here]
    banned = ids[here & np.isneginf(biases)].tolist()
    added = ids[here & np.isfinite(biases)].tolist()
    parts = [f"bans {named(context, banned)}"] if banned else []
    parts += [f"adds to {named(context, added)}"] if added else []
    figures: Values = {"added_ids": listed(added)} if added else {}
    figures |= {"banned_ids": listed(banned)} if banned else {}
    return Effect(left.reshaped(logits), note=" · ".join(parts), figures=figures)


def _values(context: Context) -> Values:
    biases = context.settings.logit_bias.values()
    return {"tokens": len(biases), "banned": sum(bias == -np.inf for bias in biases)}


LOGIT_BIAS = Stage(
    "logit_bias",
    _values,
    lambda context: None if context.settings.logit_bias else "off: no bias set",
    logit_bias,
    "none of the biased tokens is left",
)
