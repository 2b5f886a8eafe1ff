"""A least length."""

from __future__ import annotations

import numpy as np

from tokenloop.counting import counted
from tokenloop.sampling.candidates import Candidates
from tokenloop.sampling.stages.banning import ban
from tokenloop.sampling.stages.naming import named
from tokenloop.sampling.stages.stage import Context, Effect, Stage


def min_length(left: Candidates, context: Context) -> Effect:
    """Ban what ends the text until there are so many new tokens after the prompt.

    As transformers' ``MinNewTokensLengthLogitsProcessor``.
    """
    least, written = context.settings.min_new_tokens, len(context.situation.new_ids)
    if written >= least:
        return Effect(left, skipped=f"reached: {counted(written, 'new token')}")
    ends = context.situation.eos_ids
    if not ends:
        return Effect(left, skipped="no token of this vocabulary ends a text")
    after, banned = ban(left, np.array(ends, dtype=np.int64))
    if not banned:
        return Effect(left)
    missing = least - written
    return Effect(
        after,
        note=f"{counted(missing, 'more new token')} before {named(context, banned)} may come",
        figures={"missing": missing, "banned": len(banned)},
    )


MIN_LENGTH = Stage(
    "min_length",
    lambda context: {"min_new_tokens": context.settings.min_new_tokens},
    lambda context: None if context.settings.min_new_tokens else "off: a least length of 0",
    min_length,
    "what would end the text is cut already",
)
