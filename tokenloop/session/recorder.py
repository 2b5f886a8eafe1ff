"""From a sampler's trace, and a pass, to the record that the screen shows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from tokenloop.records import (
    CacheRecord,
    Candidate,
    Choice,
    Draw,
    Interval,
    Latency,
    StageRecord,
    StepRecord,
    Tail,
)
from tokenloop.sampling import Candidates, Trace, invert, uniform
from tokenloop.session.vocabulary import Vocabulary

RIBBON = 64
"""Intervals that a record carries for the ribbon at most; a screen has no room for more."""


@dataclass(frozen=True)
class Luck:
    """What the draw depends on besides the distribution."""

    seed: int
    position: int
    attempt: int

    @property
    def u(self) -> float:
        """The number in [0, 1) that is drawn."""
        return uniform(self.seed, self.position, self.attempt)

    @property
    def chance(self) -> float:
        """The number in [0, 1) for a stage that acts now and then."""
        return uniform(self.seed, self.position, self.attempt, stream=1)


def pending_choice(
    trace: Trace, luck: Luck, vocabulary: Vocabulary, *, order: str, greedy: bool, shown: int
) -> Choice:
    """Record a distribution, what the sampler makes of it, and the draw that will happen.

    Args:
        trace: the chain's.
        luck: of the position to fill.
        vocabulary: for labels.
        order: the chain's order.
        greedy: whether T is 0, so that nothing is drawn.
        shown: how many candidates the record shows.
    """
    chosen, draw = pending_draw(trace, luck, greedy=greedy)
    best = trace.raw.best(shown)
    ranks = np.arange(1, len(best) + 1)
    candidates = candidate_records(trace, trace.raw.ids[best], ranks, vocabulary)
    return Choice(
        position=luck.position,
        vocab_size=len(trace.raw),
        entropy_bits=trace.raw.entropy_bits,
        final_entropy_bits=trace.final.entropy_bits,
        order=order,
        candidates=candidates,
        tail=_tail(trace, candidates),
        stages=stage_records(trace),
        ribbon=_ribbon(trace.final, vocabulary),
        chosen=_candidate_of(trace, chosen, vocabulary),
        draw=draw,
    )


def pending_draw(trace: Trace, luck: Luck, *, greedy: bool) -> tuple[int, Draw]:
    """The id that the draw falls on, and how it is chosen; the arguments are those above."""
    u = None if greedy else luck.u
    drawn = invert(trace.final, 0.0 if u is None else u)
    draw = Draw(
        how="greedy" if greedy else "drawn",
        u=u,
        low=drawn.low,
        high=drawn.high,
        attempt=luck.attempt,
        seed=luck.seed,
    )
    return drawn.token_id, draw


def forced_choice(choice: Choice, trace: Trace, token_id: int, vocabulary: Vocabulary) -> Choice:
    """The same distribution with a token that the person chose instead of the draw."""
    interval = trace.final.interval_of(token_id)
    low, high = interval if interval is not None else (None, None)
    draw = structs.replace(choice.draw, how="forced", u=None, low=low, high=high)
    return structs.replace(choice, chosen=_candidate_of(trace, token_id, vocabulary), draw=draw)


def step_record(
    choice: Choice, *, step: int, vocabulary: Vocabulary, cache: CacheRecord, latency: Latency
) -> StepRecord:
    """A choice that became fact, with what its pass cost."""
    fields = {name: getattr(choice, name) for name in choice.__struct_fields__}
    return StepRecord(
        **fields,
        step=step,
        token=vocabulary.token(choice.chosen.id),
        cache=cache,
        latency_ms=latency,
    )


def rest(probabilities: Iterable[float]) -> float:
    """What is left to one below the shown; rounding never makes it negative."""
    return max(0.0, 1.0 - sum(probabilities))


def candidate_records(
    trace: Trace, ids: NDArray[np.int64], ranks: NDArray[np.int64], vocabulary: Vocabulary
) -> tuple[Candidate, ...]:
    """Candidates with their fate at every stage.

    Args:
        trace: the chain's.
        ids: (n,) candidates of its raw distribution.
        ranks: (n,) theirs in it.
        vocabulary: for labels.
    """
    raw_p = trace.raw.probabilities_of(ids)
    logits = trace.raw.logits[np.searchsorted(trace.raw.ids, ids)]
    after = trace.probabilities_after(ids)
    cut_by = trace.cut_by(ids)
    return tuple(
        vocabulary.candidate(
            token_id,
            rank=int(ranks[index]),
            logit=float(logits[index]),
            p=float(raw_p[index]),
            final_p=float(after[-1, index]),
            cut_by=cut_by[index],
            after=tuple(after[:, index].tolist()),
        )
        for index, token_id in enumerate(ids.tolist())
    )


def _candidate_of(trace: Trace, token_id: int, vocabulary: Vocabulary) -> Candidate:
    ids = np.array([token_id], dtype=np.int64)
    ranks = np.array([trace.raw.rank_of(token_id) or 0])
    return candidate_records(trace, ids, ranks, vocabulary)[0]


def _tail(trace: Trace, shown: tuple[Candidate, ...]) -> Tail:
    cut = Counter(
        {outcome.name: len(outcome.before) - len(outcome.after) for outcome in trace.outcomes}
    )
    cut.subtract(candidate.cut_by for candidate in shown if candidate.cut_by is not None)
    return Tail(
        count=len(trace.raw) - len(shown),
        p=rest(candidate.p for candidate in shown),
        final_p=rest(candidate.final_p or 0.0 for candidate in shown),
        cut={name: count for name, count in cut.items() if count > 0},
    )


def stage_records(trace: Trace) -> tuple[StageRecord, ...]:
    """What each stage of a chain did."""
    return tuple(
        StageRecord(
            name=outcome.name,
            settings=outcome.values,
            survivors_before=len(outcome.before),
            survivors=len(outcome.after),
            mass_cut=outcome.mass_cut,
            entropy_before_bits=outcome.before.entropy_bits,
            entropy_bits=outcome.after.entropy_bits,
            skipped=outcome.skipped,
            note=outcome.note,
            definition=outcome.definition,
            figures=outcome.figures,
        )
        for outcome in trace.outcomes
    )


def _ribbon(final: Candidates, vocabulary: Vocabulary) -> tuple[Interval, ...]:
    best = final.best(RIBBON)
    highs = np.cumsum(final.probabilities[best]).tolist()
    lows = [0.0, *highs[:-1]]
    ids = final.ids[best].tolist()
    return tuple(
        Interval(id=token_id, label=vocabulary.token(token_id).label, low=low, high=high)
        for token_id, low, high in zip(ids, lows, highs, strict=True)
    )
