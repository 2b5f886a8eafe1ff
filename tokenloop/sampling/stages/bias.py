"""Logit bias: what a person adds to single tokens."""

from __future__ import annotations

from tokenloop.errors import SettingError
from tokenloop.sampling.candidates import Candidates
from tokenloop.sampling.stages.stage import Context, Stage


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


LOGIT_BIAS = Stage(
    "logit_bias",
    lambda context: {"tokens": len(context.settings.logit_bias)},
    lambda context: None if context.settings.logit_bias else "off: no bias set",
    logit_bias,
    "none of the biased tokens is left",
)
