"""SentencePiece scores as merges.

A SentencePiece BPE vocabulary has no list of merges, only a score a piece: the best-scoring piece
that two neighbours make is merged first. Every way to make a piece of two others, best score
first, is the same as a list of merges. Ties are ordered as in the conversion that published
``tokenizer.json`` files come from (transformers, ``generate_merges``): the longer left part first,
then the longer right one, then the lower id of what they make.
"""

from __future__ import annotations

from itertools import groupby
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
    merges: list[tuple[str, str]] = []
    best_first = sorted(scores, key=lambda piece: -piece[1])
    for _, ties in groupby(best_first, key=lambda piece: piece[1]):
        found = [cut for piece, _ in ties for cut in _cuts(piece, pieces)]
        found.sort(key=lambda cut: (-len(cut[0]), -len(cut[1])))
        merges += found
    return merges


def _cuts(piece: str, pieces: Mapping[str, int]) -> list[tuple[str, str]]:
    """List the ways to make a piece of two others."""
    return [
        (left, piece[cut:])
        for cut in range(1, len(piece))
        if (left := piece[:cut]) in pieces and piece[cut:] in pieces
    ]
