"""Watched tokens: rank and probability of a pinned token at every position of the branch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from tokenloop.errors import SessionError
from tokenloop.records import StepRecord, Watched, WatchPoint
from tokenloop.sampling import Candidates, Trace
from tokenloop.session.now import Now
from tokenloop.session.tree import Node
from tokenloop.session.vocabulary import Vocabulary

MOST_PINS = 16


class Past(Protocol):
    """What is still held of the distributions before the tokens of the branch."""

    def raw(self, position: int, /) -> Candidates | None:
        """What the model said before the token there, where the logits are held."""

    def trace(self, position: int, /) -> Trace | None:
        """What the sampler made of it, by the settings of that time."""


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
        self, branch: Sequence[Node], now: Now, past: Past, vocabulary: Vocabulary
    ) -> tuple[Watched, ...]:
        """Every pin at each position of the branch from 1 on where its rank is known.

        Args:
            branch: the nodes of the prefix.
            now: what is held after it.
            past: asked once a position and pin, where the records don't know.
            vocabulary: for labels.
        """
        pins: list[Watched] = []
        for token_id in self._pins:
            for position, node in enumerate(branch[1:], 1):
                if token_id not in node.watched:
                    node.watched[token_id] = _before(node, position, token_id, past)
            known = [node.watched[token_id] for node in branch[1:]]
            pending = _in_trace(now.trace, now.luck.position, token_id, taken=False)
            points = tuple(point for point in (*known, pending) if point is not None)
            pins.append(Watched(**vocabulary.fields(token_id), points=points))
        return tuple(pins)


def _before(node: Node, position: int, token_id: int, past: Past) -> WatchPoint | None:
    """A pin's place before a token of the branch, from its record or from the held logits."""
    taken = node.token.id == token_id
    if node.record is not None:
        shown = _in_record(node.record, token_id, taken=taken)
        if shown is not None:
            return shown
        if not _shows_all_survivors(node.record):
            trace = past.trace(position)
            return None if trace is None else _in_trace(trace, position, token_id, taken=taken)
    elif node.reading is not None:
        reading, row = node.reading
        place = reading.place_of(row, token_id)
        if place is not None:
            rank, p = place
            return WatchPoint(position=position, rank=rank, p=p, final_p=None, taken=taken)
    raw = past.raw(position)
    if raw is None:
        return None
    final_p = None if node.record is None else 0.0
    return _in_raw(raw, position, token_id, final_p, taken=taken)


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
