"""A prefill seen position by position: what the model expected before each token it was given."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tokenloop.records import CacheRecord, Candidate, Choice, Draw, Latency, StepRecord, Tail
from tokenloop.sampling import Candidates
from tokenloop.session.passes import Pass
from tokenloop.session.recorder import rest, step_record
from tokenloop.session.vocabulary import Vocabulary


@dataclass(frozen=True, eq=False)
class Reading:
    """The distributions before each of n given tokens, and the pass that read them.

    Attributes:
        entropy_bits: (n,).
        log_sum_exp: (n,) natural log.
        top_ids, top_logits: (n, top) best first.
        logit: (n,) of the token that was given.
        rank: (n,) of it, from 1.
        vocab_size: candidates that the model scored.
        seed: the session's, for the record.
        order: the chain's, for the record.
        cache: after the pass.
        latency: of the whole pass.
    """

    entropy_bits: NDArray[np.float64]
    log_sum_exp: NDArray[np.float64]
    top_ids: NDArray[np.int64]
    top_logits: NDArray[np.float32]
    logit: NDArray[np.float32]
    rank: NDArray[np.int64]
    vocab_size: int
    seed: int
    order: str
    cache: CacheRecord
    latency: Latency

    def probability(self, row: int) -> float:
        """Raw probability that the given token had."""
        return math.exp(float(self.logit[row]) - float(self.log_sum_exp[row]))

    def place_of(self, row: int, token_id: int, *, given: bool) -> tuple[int, float] | None:
        """Rank and raw probability of a token of a row, or ``None`` where they were not kept.

        Args:
            row: which.
            token_id: one of the best, or the one that was given.
            given: whether it is that one.
        """
        if given:
            return int(self.rank[row]), self.probability(row)
        (places,) = np.nonzero(self.top_ids[row] == token_id)
        if not len(places):
            return None
        logit = float(self.top_logits[row, places[0]])
        return int(places[0]) + 1, math.exp(logit - float(self.log_sum_exp[row]))

    def record(self, row: int, token_id: int, position: int, vocabulary: Vocabulary) -> StepRecord:
        """The record of one given token: the model's opinion, and that nothing was drawn."""
        log_sum_exp = float(self.log_sum_exp[row])

        def candidate(shown_id: int, rank: int, logit: float) -> Candidate:
            p = math.exp(logit - log_sum_exp)
            return vocabulary.candidate(shown_id, rank=rank, logit=logit, p=p, final_p=None)

        best = zip(self.top_ids[row].tolist(), self.top_logits[row].tolist(), strict=True)
        candidates = tuple(
            candidate(shown_id, rank, logit) for rank, (shown_id, logit) in enumerate(best, 1)
        )
        chosen = candidate(token_id, int(self.rank[row]), float(self.logit[row]))
        choice = Choice(
            position=position,
            vocab_size=self.vocab_size,
            entropy_bits=float(self.entropy_bits[row]),
            final_entropy_bits=None,
            order=self.order,
            candidates=candidates,
            tail=Tail(
                count=self.vocab_size - len(candidates),
                p=rest(shown.p for shown in candidates),
                final_p=None,
            ),
            stages=(),
            ribbon=(),
            chosen=chosen,
            draw=Draw(how="given", u=None, low=None, high=None, attempt=0, seed=self.seed),
        )
        return step_record(
            choice, step=0, vocabulary=vocabulary, cache=self.cache, latency=self.latency
        )


def read_tokens(
    run: Pass,
    ids: Sequence[int],
    *,
    first: int,
    held: Candidates | None,
    vocab_size: int,
    seed: int,
    order: str,
    cache: CacheRecord,
    latency: Latency,
) -> Reading:
    """Gather what the model expected before each token from position ``first`` on.

    Args:
        run: the prefill; its scores say what follows each position that it computed.
        ids: the whole prefix.
        first: the first given position, 1 or more.
        held: the distribution before it, where the pass did not compute its predecessor.
        vocab_size: as in :class:`Reading`, like all that follow.
        seed: the session's.
        order: the chain's.
        cache: after the pass.
        latency: of the pass.

    Raises:
        ValueError: the pass was run without scores.
    """
    scores = run.output.scores
    if scores is None:
        raise ValueError("the pass was run without scores")
    start = max(0, first - 1 - run.kept)
    stop = len(ids) - 1 - run.kept
    reading = Reading(
        entropy_bits=scores.entropy_bits[start:stop],
        log_sum_exp=scores.log_sum_exp[start:stop],
        top_ids=scores.top_ids[start:stop],
        top_logits=scores.top_logits[start:stop],
        logit=scores.next_logit[start:stop],
        rank=scores.next_rank[start:stop],
        vocab_size=vocab_size,
        seed=seed,
        order=order,
        cache=cache,
        latency=latency,
    )
    if first > run.kept or held is None:
        return reading
    return _with_row(reading, held, ids[first])


def _with_row(reading: Reading, held: Candidates, token_id: int) -> Reading:
    """The reading with the held distribution before it as its first row."""
    best = held.best(reading.top_ids.shape[1])
    index = held.find(token_id)
    logit = -math.inf if index is None else held.logits[index]
    rank = held.rank_of(token_id) or len(held) + 1

    def prepend(value: object, rest: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([np.asarray([value], dtype=rest.dtype), rest])

    return replace(
        reading,
        entropy_bits=prepend(held.entropy_bits, reading.entropy_bits),
        log_sum_exp=prepend(held.log_sum_exp, reading.log_sum_exp),
        top_ids=prepend(held.ids[best], reading.top_ids),
        top_logits=prepend(held.logits[best], reading.top_logits),
        logit=prepend(logit, reading.logit),
        rank=prepend(rank, reading.rank),
    )
