"""Bad words: sequences of tokens that must not come."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tokenloop.sampling.candidates import Candidates
from tokenloop.sampling.stages.banning import ban, check_ids
from tokenloop.sampling.stages.naming import named
from tokenloop.sampling.stages.stage import Context, Effect, Stage

Word = tuple[int, ...]


def bad_words(left: Candidates, context: Context) -> Effect:
    """Ban the last token of each bad word whose other tokens the text ends with.

    As transformers' ``NoBadWordsLogitsProcessor``: the whole prefix counts, a word of one token is
    banned always, and one that only ends the text never (``min_length`` is for that).

    Raises:
        SettingError: an id is not in the vocabulary.
    """
    words = context.settings.bad_words
    check_ids("bad_words", np.array([i for word in words for i in word], dtype=np.int64), context)
    prefix = context.situation.prefix
    last = [word[-1] for word in words if _bans(word, context) and _ends_with(prefix, word[:-1])]
    if not last:
        return Effect(left, skipped="the text does not end with the beginning of any")
    after, banned = ban(left, np.array(last, dtype=np.int64))
    if not banned:
        return Effect(left)
    return Effect(after, note=f"bans {named(context, banned)}", figures={"banned": len(banned)})


def _bans(word: Word, context: Context) -> bool:
    return len(word) > 1 or word[0] not in context.situation.eos_ids


def _ends_with(prefix: Sequence[int], beginning: Word) -> bool:
    return len(beginning) <= len(prefix) and (
        tuple(prefix[len(prefix) - len(beginning) :]) == beginning
    )


def _definition(context: Context) -> str | None:
    alone = all(_bans(word, context) for word in context.settings.bad_words)
    return None if alone else "a word that only ends the text is not banned: min-length is for that"


BAD_WORDS = Stage(
    "bad_words",
    lambda context: {"sequences": len(context.settings.bad_words)},
    lambda context: None if context.settings.bad_words else "off: no bad words",
    bad_words,
    "what would complete one is cut already",
    definition=_definition,
)
