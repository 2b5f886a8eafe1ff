"""What ``tokenloop sample --json`` prints."""

from __future__ import annotations

from tokenloop.records import Choice, DrawsRecord, FoundTokens, Latency


class SampleRecord(Choice, frozen=True, kw_only=True):
    """The distribution after a prompt, what each stage made of it, and many draws from it.

    Attributes:
        draws: the draws against the distribution; ``None`` where greedy draws nothing.
        found: the tokens that were asked for, a search each.
        latency_ms: what reading the prompt and the sampler took.
    """

    draws: DrawsRecord | None
    found: tuple[FoundTokens, ...]
    latency_ms: Latency | None
