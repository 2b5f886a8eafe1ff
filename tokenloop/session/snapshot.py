"""A session at rest, as one immutable value: all that a screen needs to draw *now*."""

from __future__ import annotations

from msgspec import Struct

from tokenloop.records import (
    CacheRecord,
    Choice,
    LatencyHistory,
    ModelInfo,
    PrefixToken,
    Repetition,
    Watched,
)
from tokenloop.sampling.settings import SamplerSettings


class Snapshot(Struct, frozen=True, kw_only=True):
    """The session now.

    Attributes:
        model: what runs.
        prefix: every token so far.
        text: the prefix as text (partial characters as U+FFFD): what an editor starts from.
        choice: the held distribution and the draw that would happen (with a full context it can't
            be made fact); ``None`` before the first prompt.
        cache: after the last pass.
        latency: the passes so far.
        settings, seed: the sampler's.
        steps: steps made so far (drawn or forced tokens in the prefix).
        ended: the last token ends a text (EOS): stepping on is allowed, running stops here.
        context_full: no further token fits.
        notice: why ``choice`` is missing, in one line.
        prompt_length: how many tokens of the prefix are the prompt; what follows is new text.
        watched: the pinned tokens, in the order in which they were pinned.
        repetition: that the end of the text repeats itself, or ``None``.
    """

    model: ModelInfo
    prefix: tuple[PrefixToken, ...]
    text: str
    choice: Choice | None
    cache: CacheRecord
    latency: LatencyHistory
    settings: SamplerSettings
    seed: int
    steps: int
    ended: bool
    context_full: bool
    notice: str | None = None
    prompt_length: int = 0
    watched: tuple[Watched, ...] = ()
    repetition: Repetition | None = None
