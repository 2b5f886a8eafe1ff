"""SentencePiece scores as merges.

A SentencePiece BPE vocabulary has no list of merges, only a score a piece: the best-scoring piece
that two neighbours make is merged first. Every way to make a piece of two others, best score
first, is the same as a list of merges. Ties are ordered as in the conversion that published
``tokenizer.json`` files come from (transformers, ``convert_slow_tokenizer.py``): the longer left
part first, then the lower id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


def merges_from_scores(
    pieces: Mapping[str, int], scores: Iterable[tuple[str, float]]
) -> list[tuple[str, str]]:
    """List the merges of a SentencePiece BPE vocabulary, first to be applied first.

    Args:
        pieces: id of each piece that may be a part of another.
        scores: the pieces that merging may make, with their scores.
    """
    found: list[tuple[float, int, int, int, str, str]] = []
    for piece, score in scores:
        for cut in range(1, len(piece)):
            left, right = piece[:cut], piece[cut:]
            if left in pieces and right in pieces:
                found.append((-score, -cut, cut - len(piece), pieces[left], left, right))
    found.sort()
    return [(left, right) for *_, left, right in found]
