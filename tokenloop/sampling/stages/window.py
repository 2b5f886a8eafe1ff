"""The part of the prefix that a stage looks back at."""

from __future__ import annotations

from collections.abc import Sequence

from tokenloop.sampling.stages.stage import Context


def window(context: Context, size: int) -> Sequence[int]:
    """The last ``size`` tokens of the prefix, without the prompt where the settings leave it out.

    Args:
        context: prefix and settings.
        size: how many at most; -1 is all of them.
    """
    situation = context.situation
    seen = situation.prefix if context.settings.penalize_prompt else situation.new_ids
    return seen if size < 0 else seen[max(0, len(seen) - size) :]


def window_in_words(context: Context, size: int) -> str:
    """What the window is: ``the last 64 of 120 tokens, the prompt counts``.

    Args:
        context: prefix and settings.
        size: how many at most; -1 is all of them.
    """
    prompt = "the prompt counts" if context.settings.penalize_prompt else "without the prompt"
    looked_at, there = len(window(context, size)), len(window(context, -1))
    if looked_at < there:
        return f"the last {looked_at:,} of {there:,} tokens, {prompt}"
    return f"all {there:,} tokens, {prompt}" if there else f"no tokens yet, {prompt}"
