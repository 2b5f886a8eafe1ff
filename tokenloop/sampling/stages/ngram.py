"""No n-gram twice."""

from __future__ import annotations

import numpy as np

from tokenloop.sampling.candidates import Candidates, Ids
from tokenloop.sampling.stages.banning import ban
from tokenloop.sampling.stages.naming import named
from tokenloop.sampling.stages.repeats import longest_by_successor, repeats
from tokenloop.sampling.stages.stage import Context, Effect, Stage
from tokenloop.sampling.stages.window import window, window_in_words


def no_repeat_ngram(left: Candidates, context: Context) -> Effect:
    """Ban every token that would complete n tokens in a row which the text already holds.

    Paulus et al. 2017, "A deep reinforced model for abstractive summarization", §2.5; as
    transformers' ``NoRepeatNGramLogitsProcessor``: the last n − 1 tokens are looked for, and what
    followed them may not follow again. n = 1 bans every token seen.
    """
    after, banned = ban(left, would_repeat(context))
    if not banned:
        return Effect(left)
    return Effect(after, note=f"bans {named(context, banned)}", figures={"banned": len(banned)})


def would_repeat(context: Context) -> Ids:
    """(m,) ids that would complete an n-gram a second time, ascending."""
    seen = window(context, -1)
    size = context.settings.no_repeat_ngram_size
    if size == 1:
        return np.unique(np.array(seen, dtype=np.int64))
    ids, _ = longest_by_successor(seen, repeats(seen), size - 1)
    return ids


NO_REPEAT_NGRAM = Stage(
    "no_repeat_ngram",
    lambda context: {"n": context.settings.no_repeat_ngram_size},
    lambda context: None if context.settings.no_repeat_ngram_size else "off: n = 0",
    no_repeat_ngram,
    "no n-gram would come a second time",
    definition=lambda context: window_in_words(context, -1),
)
