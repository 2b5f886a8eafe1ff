"""Watched tokens: rank and probability of a pinned token at every position of the branch."""

from __future__ import annotations

import numpy as np

from tokenloop.errors import SessionError
from tokenloop.records import StepRecord, Watched, WatchPoint
from tokenloop.sampling import Candidates, Trace
from tokenloop.session.now import Now
from tokenloop.session.path import Path
from tokenloop.session.sampler import Sampler
from tokenloop.session.tree import Node
from tokenloop.session.vocabulary import Vocabulary

MOST_PINS = 16


class WatchList:
    """The pinned tokens, in the order in which they were pinned."""

    def __init__(self) -> None:
        self._pins: list[int] = []

    def toggle(self, token_id: int) -> None:
        """Pin a token, or unpin it.

        Raises:
            SessionError: too many are pinned already.
        """
        if token_id in self._pins:
            self._pins.remove(token_id)
            return
        if len(self._pins) >= MOST_PINS:
            raise SessionError(f"{MOST_PINS} tokens are watched already: unpin one first")
        self._pins.append(token_id)

    def note(self, node: Node, position: int, trace: Trace) -> None:
        """Remember the pins' places before a token that a step appends."""
        for token_id in self._pins:
            taken = node.token.id == token_id
            node.watched[token_id] = _in_trace(trace, position, token_id, taken=taken)

    def record(
        self, path: Path, now: Now | None, sampler: Sampler, vocabulary: Vocabulary
    ) -> tuple[Watched, ...]:
        """Every pin at each position of the prefix from 1 on where its rank is known.

        Args:
            path: to the prefix.
            now: what is held after it, or ``None`` before the first prompt.
            sampler: looks once more where records don't know and logits are held: never by a pass.
            vocabulary: for labels.
        """
        pins: list[Watched] = []
        for token_id in self._pins:
            points = _places(path, token_id, sampler)
            if now is not None:
                points.append(_in_trace(now.trace, now.luck.position, token_id, taken=False))
            known = tuple(point for point in points if point is not None)
            pins.append(Watched(**vocabulary.fields(token_id), points=known))
        return tuple(pins)


def _places(path: Path, token_id: int, sampler: Sampler) -> list[WatchPoint | None]:
    """A pin before each token of the prefix but the first; each is found out once."""
    for position, node in enumerate(path.branch[1:], 1):
        if token_id not in node.watched:
            node.watched[token_id] = _before(path, position, token_id, sampler)
    return [node.watched[token_id] for node in path.branch[1:]]


def _before(path: Path, position: int, token_id: int, sampler: Sampler) -> WatchPoint | None:
    """A pin before one token, from its record or from the held logits."""
    node = path.branch[position]
    taken = node.token.id == token_id
    if node.record is not None:
        shown = _in_record(node.record, token_id, taken=taken)
        if shown is not None:
            return shown
    elif node.reading is not None:
        reading, row = node.reading
        place = reading.place_of(row, token_id, given=taken)
        if place is not None:
            rank, p = place
            return WatchPoint(position=position, rank=rank, p=p, final_p=None, taken=taken)
    logits = path.peek(position)
    if logits is None:
        return None
    raw = sampler.candidates(logits)
    if node.record is None or _shows_all_survivors(node.record):
        final_p = None if node.record is None else 0.0
        return _in_raw(raw, position, token_id, final_p, taken=taken)
    trace = sampler.trace_of(raw, path.branch[: position + 1])
    return _in_trace(trace, position, token_id, taken=taken)


def _in_record(record: StepRecord, token_id: int, *, taken: bool) -> WatchPoint | None:
    for candidate in (record.chosen, *record.candidates):
        if candidate.id == token_id:
            return WatchPoint(
                position=record.position,
                rank=candidate.rank,
                p=candidate.p,
                final_p=candidate.final_p,
                taken=taken,
            )
    return None


def _shows_all_survivors(record: StepRecord) -> bool:
    """Whether all others were cut, so that the chain need not run again to know."""
    shown = sum(candidate.cut_by is None for candidate in record.candidates)
    return shown == record.stages[-1].survivors


def _in_trace(trace: Trace, position: int, token_id: int, *, taken: bool) -> WatchPoint | None:
    final_p = float(trace.final.probabilities_of(np.array([token_id]))[0])
    return _in_raw(trace.raw, position, token_id, final_p, taken=taken)


def _in_raw(
    raw: Candidates, position: int, token_id: int, final_p: float | None, *, taken: bool
) -> WatchPoint | None:
    rank = raw.rank_of(token_id)
    if rank is None:
        return None
    p = float(raw.probabilities_of(np.array([token_id]))[0])
    return WatchPoint(position=position, rank=rank, p=p, final_p=final_p, taken=taken)
