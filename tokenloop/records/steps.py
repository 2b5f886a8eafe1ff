"""A step and all that belongs to it; a :class:`StepRecord` is one line of ``run --json``."""

from __future__ import annotations

from typing import Literal

from msgspec import Struct, field

from tokenloop.records.costs import CacheRecord, Latency

How = Literal["drawn", "greedy", "forced", "given"]
"""How a token came to stand where it stands.

``drawn`` by the sampler from ``u``; ``greedy``, the best survivor at T = 0, no number drawn;
``forced`` by the person from the candidates; ``given`` by the person as text, read by a prefill.
"""


class Token(Struct, frozen=True, kw_only=True):
    """One vocabulary entry.

    Attributes:
        id: its number in the vocabulary: the truth.
        text: what it decodes to alone, or ``None`` where its bytes are no complete characters.
        bytes_hex: the bytes that it stands for, in hexadecimal (``bytes`` in JSON).
        label: how it is printed: whitespace, controls and partial characters made visible. Always
            safe for a terminal; never empty.
        special: a control token such as ``<|im_end|>``, not text.
    """

    id: int
    text: str | None
    bytes_hex: str = field(name="bytes")
    label: str
    special: bool = False


class Candidate(Token, frozen=True, kw_only=True):
    """A token as a possible next one.

    Attributes:
        rank: its place in the model's own (raw) order, 1 first.
        logit: the raw score.
        p: raw probability: the model's opinion.
        final_p: probability in the distribution that is drawn from; 0 where cut. ``None`` where no
            sampler looked at it (a token that was given).
        cut_by: the name of the stage that cut it, or ``None`` for a survivor.
        after: its probability after each stage of the chain, in the chain's order.
    """

    rank: int
    logit: float
    p: float
    final_p: float | None
    cut_by: str | None = None
    after: tuple[float, ...] = ()


class Tail(Struct, frozen=True, kw_only=True):
    """Everything below the shown candidates; shown candidates and tail sum to one.

    Attributes:
        count: how many entries.
        p: their raw probability together.
        final_p: their final probability together (``None`` where no sampler ran).
        cut: how many of them each stage cut, by stage name.
    """

    count: int
    p: float
    final_p: float | None
    cut: dict[str, int] = field(default_factory=dict)


OFF = "off: "
"""What the reason of a stage begins with that its settings or the person turned off."""


class StageRecord(Struct, frozen=True, kw_only=True):
    """What one stage of the sampler did.

    Attributes:
        name: the stage (``top_k``).
        settings: its settings by name (``{"k": 40}``).
        survivors_before, survivors: candidates left before and after it.
        mass_cut: the part of the probability entering it that it cut, in [0, 1].
        entropy_before_bits, entropy_bits: of the survivors' distribution before and after.
        skipped: why it did nothing, or ``None`` where it acted.
        note: what else is worth saying ("greedy: T = 0 keeps only the best").
        definition: which definition is active where the traditions differ ("exactly k").
        figures: what the stage found, by name (``{"mu": 9.2}``).
    """

    name: str
    settings: dict[str, float | int | str]
    survivors_before: int
    survivors: int
    mass_cut: float
    entropy_before_bits: float
    entropy_bits: float
    skipped: str | None = None
    note: str | None = None
    definition: str | None = None
    figures: dict[str, float | int | str] = field(default_factory=dict)

    @property
    def off(self) -> bool:
        """Whether it was turned off; one that is on may find nothing to do, too."""
        return self.skipped is not None and self.skipped.startswith(OFF)

    @property
    def why(self) -> str:
        """Why it did nothing, without a word of whether it is off; nothing where it acted."""
        return (self.skipped or "").removeprefix(OFF)

    @property
    def by_chance(self) -> bool:
        """Whether the attempt's own chance decided what it did: in another it may do otherwise."""
        return "chance" in self.figures


class Draw(Struct, frozen=True, kw_only=True):
    """The choice of one candidate.

    Attributes:
        how: drawn, greedy, forced or given.
        u: the number in [0, 1), or ``None`` where nothing was drawn.
        low, high: the interval [low, high) of the cumulative final distribution that belongs to
            the chosen candidate; ``None`` where it has none (cut and forced, or given).
        attempt: how often this position was rolled again.
        seed: the seed that ``u`` comes from.
    """

    how: How
    u: float | None
    low: float | None
    high: float | None
    attempt: int
    seed: int


class Interval(Struct, frozen=True, kw_only=True):
    """A candidate's part [low, high) of the cumulative final distribution."""

    id: int
    label: str
    low: float
    high: float


class Choice(Struct, frozen=True, kw_only=True):
    """A held distribution, what the sampler makes of it, and the candidate that the draw falls on.

    Attributes:
        position: the index in the prefix that the chosen token takes.
        vocab_size: how many candidates the model scored.
        entropy_bits: of the raw distribution.
        final_entropy_bits: of the distribution drawn from (``None`` for a given token).
        order: the chain's order, ``llamacpp`` or ``transformers``.
        candidates: the shown ones, in raw order from rank 1.
        tail: the rest.
        stages: the chain, in its order; empty for a given token.
        ribbon: the largest intervals of the cumulative final distribution, in the order of the
            draw (descending probability, lowest id first among equals), from 0 upwards.
        chosen: the candidate that the draw falls on (or that was forced or given).
        draw: how it is chosen.
    """

    position: int
    vocab_size: int
    entropy_bits: float
    final_entropy_bits: float | None
    order: str
    candidates: tuple[Candidate, ...]
    tail: Tail
    stages: tuple[StageRecord, ...]
    ribbon: tuple[Interval, ...]
    chosen: Candidate
    draw: Draw

    @property
    def by_chance(self) -> bool:
        """Whether what is drawn from depends on the attempt, not only the draw."""
        return any(stage.by_chance for stage in self.stages)


class StepRecord(Choice, frozen=True, kw_only=True):
    """One token's record: what it was chosen from, how, and what its pass cost.

    Attributes:
        step: the step that appended it, from 1; 0 for a token that was given and read in a prefill.
        token: the token that became fact.
        cache: the KV cache after the pass on it.
        latency_ms: of this step (of the whole prefill for a given token).
    """

    step: int
    token: Token
    cache: CacheRecord
    latency_ms: Latency


class PrefixToken(Struct, frozen=True, kw_only=True):
    """A token of the prefix as the text panel shows it.

    Attributes:
        token: the token.
        how: how it came here.
        p: the raw probability that it had, ``None`` for the first (nothing came before it).
        rank: its raw rank then, ``None`` likewise.
    """

    token: Token
    how: How
    p: float | None
    rank: int | None
