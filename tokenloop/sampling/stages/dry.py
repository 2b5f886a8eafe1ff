"""DRY ("don't repeat yourself"): a penalty that grows with what would be repeated."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tokenloop.counting import counted
from tokenloop.sampling.candidates import Candidates
from tokenloop.sampling.stages.naming import joined, label_of
from tokenloop.sampling.stages.repeats import Lengths, longest_by_successor, repeats
from tokenloop.sampling.stages.stage import Context, Effect, Stage, Values
from tokenloop.sampling.stages.window import window, window_in_words

LARGEST = math.log(np.finfo(np.float32).max)
"""The exponent stops where base ** exponent would leave float32, as in llama.cpp."""


def dry(left: Candidates, context: Context) -> Effect:
    """Make what would lengthen a repetition less likely.

    p-e-w 2024 (text-generation-webui, pull request 5677), as in llama.cpp: let the last m tokens of
    the window stand once more earlier in it, followed by a candidate. For the longest such m of
    each candidate, ``logit −= multiplier · base^(m − allowed_length)`` where m ≥ allowed_length. No
    repetition reaches across a sequence breaker, and a token that holds one costs nothing.
    """
    settings = context.settings
    seen = dry_window(context)
    lengths = repeats(seen)
    found = int(lengths.max(initial=0))
    unbroken = tokens_since_a_breaker(seen, found, context)
    unbroken_lengths = np.minimum(lengths, unbroken)
    ids, matches = longest_by_successor(seen, unbroken_lengths, settings.dry_allowed_length)
    if not len(ids):
        return Effect(left, skipped=_why_none(seen, found, unbroken, context))
    free = np.array([holds_a_breaker(token_id, context) for token_id in ids.tolist()])
    index, here = left.locate(ids)
    here &= ~free
    if not here.any():
        return Effect(left)
    ids, matches, index = ids[here], matches[here], index[here]
    penalties = settings.dry_multiplier * settings.dry_base ** _exponents(matches, context)
    logits = left.logits.copy()
    logits[index] -= penalties
    worst = int(np.lexsort((-left.logits[index], -penalties))[0])
    return _told(
        left.reshaped(logits),
        list(seen[len(seen) - int(matches[worst]) :]),
        (int(ids[worst]), float(penalties[worst])),
        len(ids),
        context,
    )


def dry_window(context: Context) -> Sequence[int]:
    """The tokens that DRY looks at."""
    return window(context, context.settings.dry_penalty_last_n)


def holds_a_breaker(token_id: int, context: Context) -> bool:
    """Whether a token's text contains a sequence breaker."""
    words = context.situation.words
    if words is None:
        return False
    raw = words.raw(token_id)
    return any(breaker in raw for breaker in _breakers(context))


def tokens_since_a_breaker(seen: Sequence[int], most: int, context: Context) -> int:
    """How many tokens at the end no sequence breaker reaches into, at most ``most``.

    A breaker is looked for in the text, so that it counts however it is cut into tokens.
    """
    words, breakers = context.situation.words, _breakers(context)
    if words is None or not breakers or not most:
        return most
    reach = most + max(map(len, breakers))
    pieces = [words.raw(token_id) for token_id in seen[max(0, len(seen) - reach) :]]
    text = b"".join(pieces)
    end = max(text.rfind(b) + len(b) if b in text else 0 for b in breakers)
    start, tokens = len(text), 0
    for piece in reversed(pieces):
        start -= len(piece)
        if start < end:
            break
        tokens += 1
    return min(tokens, most)


def _breakers(context: Context) -> list[bytes]:
    texts = context.settings.dry_sequence_breakers
    return [text.encode(errors="surrogatepass") for text in texts]


def _exponents(matches: Lengths, context: Context) -> Lengths:
    exponents = matches - context.settings.dry_allowed_length
    base = context.settings.dry_base
    # Just above 1 the limit is beyond any context, and the division would be by nearly 0.
    return np.minimum(exponents, int(LARGEST / math.log(base))) if base > 1.000001 else exponents


def _told(
    after: Candidates,
    sequence: list[int],
    worst: tuple[int, float],
    penalised: int,
    context: Context,
) -> Effect:
    """The longest repetition, and what it costs to go on with it."""
    token_id, penalty = worst
    text, label = joined(context, sequence), label_of(context, token_id)
    more = f" and {penalised - 1:,} more" if penalised > 1 else ""
    return Effect(
        after,
        note=f"repeats {text}: {counted(len(sequence), 'token')}, {label} −{penalty:.4g}{more}",
        figures={
            "match": len(sequence),
            "sequence": text,
            "next": label,
            "penalty": penalty,
            "penalised": penalised,
        },
    )


def _why_none(seen: Sequence[int], found: int, unbroken: int, context: Context) -> str:
    if not found:
        return f"{label_of(context, seen[-1])} does not come earlier in the window"
    least = context.settings.dry_allowed_length
    if found < least:
        return f"the end repeats {counted(found, 'token')}: it counts from {least}"
    repeated = counted(found, "token")
    return f"a breaker leaves {unbroken} of {repeated} that repeat: it counts from {least}"


def _off(context: Context) -> str | None:
    if context.settings.dry_multiplier == 0:
        return "off: multiplier 0"
    return None if len(dry_window(context)) else "off: a window of 0 tokens"


def _values(context: Context) -> Values:
    settings = context.settings
    return {
        "multiplier": settings.dry_multiplier,
        "base": settings.dry_base,
        "allowed_length": settings.dry_allowed_length,
        "last_n": len(dry_window(context)),
    }


DRY = Stage(
    "dry",
    _values,
    _off,
    dry,
    "what would repeat is cut already, or breaks sequences",
    definition=lambda context: window_in_words(context, context.settings.dry_penalty_last_n),
)
