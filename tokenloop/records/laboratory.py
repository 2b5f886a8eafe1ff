"""What the sampling laboratory answers: many draws, sweeps, two chains side by side, a search.

All of it is computed from the held distribution; no pass runs for any of it.
"""

from __future__ import annotations

from msgspec import Struct

from tokenloop.records.steps import Candidate, Draw, StageRecord, Token


class DrawCount(Token, frozen=True, kw_only=True):
    """How often one candidate was drawn.

    Attributes:
        final_p: its probability in the distribution drawn from.
        count: how often it was drawn.
    """

    final_p: float
    count: int


class DrawsRecord(Struct, frozen=True, kw_only=True):
    """Many draws from the held distribution, against that distribution.

    Attributes:
        position: the place in the prefix that the draws are for.
        draws: how many were made: those that rolling again from attempt 0 on would make.
        seed: where they come from.
        counts: the candidates, most probable first, as far as they are shown.
        rest_count, rest_p: draws and probability of all others together.
        chi_square: Pearson's statistic over the candidates expected at least 5 times, the others
            as one; ``None`` where fewer than two classes are left
            (:func:`tokenloop.sampling.chi_square.chi_square`).
        degrees: its degrees of freedom.
        p_value: the probability of so large a statistic if the draws do follow the distribution.
        draw_ms: what drawing them took.
    """

    position: int
    draws: int
    seed: int
    counts: tuple[DrawCount, ...]
    rest_count: int
    rest_p: float
    chi_square: float | None
    degrees: int
    p_value: float | None
    draw_ms: float

    @property
    def certain(self) -> bool:
        """Whether one token has all the probability, so that no number of draws tests anything."""
        return bool(self.counts) and self.counts[0].final_p == 1.0


class SweepPoint(Struct, frozen=True, kw_only=True):
    """The chain at one value of a setting.

    Attributes:
        value: of the setting.
        survivors: candidates left to draw from.
        entropy_bits: of the distribution drawn from.
        final_p: of each of the sweep's candidates.
    """

    value: float
    survivors: int
    entropy_bits: float
    final_p: tuple[float, ...]


class SweepRecord(Struct, frozen=True, kw_only=True):
    """The chain over a range of one setting.

    Attributes:
        position: the place in the prefix.
        setting: its name (``temperature``).
        label: for people.
        current: its value now.
        candidates: the model's best, best first.
        points: by ascending value.
        sweep_ms: what computing them took.
    """

    position: int
    setting: str
    label: str
    current: float
    candidates: tuple[Token, ...]
    points: tuple[SweepPoint, ...]
    sweep_ms: float


class ChainRecord(Struct, frozen=True, kw_only=True):
    """One chain on the held logits.

    Attributes:
        name: of its preset or order, for people.
        order: the tradition whose definitions it follows.
        stages: what each did.
        survivors: candidates left to draw from.
        entropy_bits: of the distribution drawn from.
        chosen: what the draw falls on.
        draw: under the same luck as the session's.
    """

    name: str
    order: str
    stages: tuple[StageRecord, ...]
    survivors: int
    entropy_bits: float
    chosen: Token
    draw: Draw


class ComparedCandidate(Token, frozen=True, kw_only=True):
    """One candidate under two chains.

    Attributes:
        rank, p: what the model said.
        left_p, right_p: final probability under either chain, 0 where cut.
        left_cut_by, right_cut_by: the stage that cut it, or ``None``.
    """

    rank: int
    p: float
    left_p: float
    right_p: float
    left_cut_by: str | None = None
    right_cut_by: str | None = None


class Comparison(Struct, frozen=True, kw_only=True):
    """Two chains on the same logits.

    Attributes:
        position: the place in the prefix.
        left, right: the chains.
        candidates: all that either keeps, largest difference of final probability first, as far as
            they are shown.
        only_left, only_right: how many candidates one of them keeps alone.
        both: how many both keep.
        total_variation: half the sum of all differences of final probability, in [0, 1].
    """

    position: int
    left: ChainRecord
    right: ChainRecord
    candidates: tuple[ComparedCandidate, ...]
    only_left: int
    only_right: int
    both: int
    total_variation: float


class FoundTokens(Struct, frozen=True, kw_only=True):
    """What a search of the whole vocabulary found.

    Attributes:
        query: what was searched for.
        kind: how it was understood: ``text``, ``bytes`` or ``id``.
        candidates: those that are the query, with or without a space before it, then those that
            hold it; each best rank first, as far as they are shown.
        total: how many there are.
        without_logit: how many of them are no candidates at all (padding, or minus infinity).
    """

    query: str
    kind: str
    candidates: tuple[Candidate, ...]
    total: int
    without_logit: int = 0


class WatchPoint(Struct, frozen=True, kw_only=True):
    """A watched token as the candidate for one position.

    Attributes:
        position: of the prefix.
        rank, p, final_p: as in :class:`~tokenloop.records.Candidate`, by the settings of that time;
            ``final_p`` is ``None`` where the token was given, so that no sampler looked at it.
        taken: whether it became fact there.
    """

    position: int
    rank: int
    p: float
    final_p: float | None
    taken: bool


class Watched(Token, frozen=True, kw_only=True):
    """A pinned token.

    Attributes:
        points: by ascending position, those where its rank is known (recorded, or the logits are
            held); the last one is now.
    """

    points: tuple[WatchPoint, ...]


class Repetition(Struct, frozen=True, kw_only=True):
    """The end of the text repeats itself.

    Attributes:
        period: tokens of what repeats.
        times: how often it stands there in a row, at least 2.
        start: the position at which the first one begins.
        text: what repeats, as labels.
        entropy_before_bits: mean entropy of the model's distribution over the first period.
        entropy_bits: over the last one; ``None`` where it is not known.
    """

    period: int
    times: int
    start: int
    text: str
    entropy_before_bits: float | None
    entropy_bits: float | None


Answer = DrawsRecord | SweepRecord | Comparison | FoundTokens
"""What a question to the laboratory is answered with."""
