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
