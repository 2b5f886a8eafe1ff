"""SentencePiece scores as merges.

A SentencePiece BPE vocabulary has no list of merges, only a score a piece: the best-scoring piece
that two neighbours make is merged first. Every way to make a piece of two others, best score
first, is the same as a list of merges. Ties are ordered as in the conversion that published
``tokenizer.json`` files come from (transformers, ``generate_merges``): the longer left part first,
then the longer right one, then the lower id of what they make.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def merges_from_scores(
    pieces: Mapping[str, int], scores: Iterable[tuple[str, float]]
) -> list[tuple[str, str]]:
    """List the merges of a SentencePiece BPE vocabulary, first to be applied first.

    Args:
        pieces: id of each piece that may be a part of another.
        scores: the pieces that merging may make, with their scores, in the order of their ids.
    """
    cuts = [
        (-score, -cut, cut - len(piece), left, right)
        for piece, score in scores
        for cut in range(1, len(piece))
        if (left := piece[:cut]) in pieces and (right := piece[cut:]) in pieces
    ]
    cuts.sort(key=itemgetter(0, 1, 2))  # what is equal in these stays in the order of its ids
    return [(left, right) for *_, left, right in cuts]
