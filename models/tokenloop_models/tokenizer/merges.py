"""SentencePiece scores as merges.

A SentencePiece BPE vocabulary has no list of merges, only a score a piece: the best-scoring piece
that two neighbours make is merged first. Every way to make a piece of two others, best score
first, is the same as a list of merges. Ties are ordered as in the conversion that published
``tokenizer.json`` files come from (transformers, ``generate_merges``): the longer left part first,
then the longer right one, then the lower id of what they make.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def merges_from_scores(scores: Mapping[str, float]) -> list[tuple[str, str]]:
    """List the merges of a SentencePiece BPE vocabulary, first to be applied first.

    Args:
        scores: of each piece that merging may use or make, in the order of their ids.
    """
    pieces = frozenset(scores)
    merges = [
        (left, right)
        for piece in sorted(scores, key=scores.__getitem__, reverse=True)
        for cut in range(len(piece) - 1, 0, -1)
        if (left := piece[:cut]) in pieces and (right := piece[cut:]) in pieces
    ]
    if len(set(scores.values())) < len(pieces):
        # merges of pieces with one score mingle, by length; equals in that stay in order of ids
        merges.sort(key=lambda both: (-scores[both[0] + both[1]], -len(both[0]), -len(both[1])))
    return merges
