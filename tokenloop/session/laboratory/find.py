"""A search of the whole vocabulary: by text, by bytes or by id."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

import numpy as np

from tokenloop.errors import SessionError
from tokenloop.labels import unlabelled
from tokenloop.records import FoundTokens
from tokenloop.sampling.candidates import Ids
from tokenloop.session.laboratory.ranks import ranks_of
from tokenloop.session.now import Now
from tokenloop.session.recorder import candidate_records
from tokenloop.session.vocabulary import Vocabulary

Kind = Literal["text", "bytes", "id"]

_BYTES = re.compile(r"0[xX]((?:[0-9a-fA-F]{2}\s*)+)")
_ID = re.compile(r"#?([0-9]{1,10})")


@dataclass(frozen=True)
class Hits:
    """What a query means in a vocabulary.

    Attributes:
        kind: how it was understood.
        exact: ids of the tokens that are the query.
        partial: ids of those that hold it.
    """

    kind: Kind
    exact: list[int]
    partial: list[int]


def find(now: Now, query: str, vocabulary: Vocabulary, *, shown: int) -> FoundTokens:
    """Search the vocabulary and say what becomes of each hit at every stage.

    Args:
        now: what is held.
        query: ``#123`` is an id, as are digits that no token holds; ``0x20 41`` are bytes; anything
            else is text, written plainly or as labels show it (``␣`` for a space). Text without
            capitals is found in either case.
        vocabulary: to search.
        shown: candidates that the record shows.

    Raises:
        SessionError: the query is empty.
    """
    if not query:
        raise SessionError("an empty search finds nothing: give text, 0x20 41 (bytes) or #123 (id)")
    hits = search(query, vocabulary)
    exact, partial = _by_rank(now, hits.exact), _by_rank(now, hits.partial)
    best = np.concatenate([exact, partial])[:shown]
    total = len(hits.exact) + len(hits.partial)
    return FoundTokens(
        query=query,
        kind=hits.kind,
        candidates=candidate_records(now.trace, best, ranks_of(now.raw, best), vocabulary),
        total=total,
        without_logit=total - len(exact) - len(partial),
    )


def search(query: str, vocabulary: Vocabulary) -> Hits:
    """Find what a query means; the argument is that of :func:`find`."""
    if query.startswith("#") and (number := _ID.fullmatch(query)):
        return Hits("id", _existing(int(number[1]), vocabulary), [])
    if written := _BYTES.fullmatch(query.strip()):
        wanted = bytes.fromhex(written[1])
        return _split("bytes", {wanted}, {wanted}, vocabulary.pieces)
    hits = _by_text(query, vocabulary)
    if not hits.exact and not hits.partial and (number := _ID.fullmatch(query)):
        return Hits("id", _existing(int(number[1]), vocabulary), [])
    return hits


def _by_text(query: str, vocabulary: Vocabulary) -> Hits:
    # A token may hold the label's sign itself, so both readings count.
    wanted = {query.encode(errors="replace"), unlabelled(query)}
    exact = wanted | {b" " + text for text in wanted}
    if query != query.lower():
        return _split("text", exact, wanted, vocabulary.pieces)
    return _split("text", exact, wanted, vocabulary.pieces, vocabulary.lower_pieces)


def _split(
    kind: Kind,
    exact: set[bytes],
    inside: set[bytes],
    pieces: list[bytes],
    searched: list[bytes] | None = None,
) -> Hits:
    """The tokens that are one of the exact texts, and the others that hold one of those inside."""
    held = {
        token_id
        for text in inside
        for token_id, piece in enumerate(pieces if searched is None else searched)
        if text in piece
    }
    same = sorted(token_id for token_id in held if pieces[token_id] in exact)
    return Hits(kind, same, sorted(held.difference(same)))


def _existing(token_id: int, vocabulary: Vocabulary) -> list[int]:
    return [token_id] if token_id < vocabulary.tokenizer.size else []


def _by_rank(now: Now, ids: list[int]) -> Ids:
    """Those of the ids that are candidates, best rank first."""
    wanted = np.array(ids, dtype=np.int64)
    candidates = wanted[now.raw.locate(wanted)[1]]
    return candidates[np.argsort(ranks_of(now.raw, candidates))]
