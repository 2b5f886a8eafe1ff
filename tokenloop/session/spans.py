"""Where tokens lie in their text, and which of them an edit of that text leaves alone."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher


@dataclass(frozen=True)
class Spans:
    """The text of a sequence of tokens and where each one ends in it.

    Attributes:
        text: the bytes joined and decoded; what is no complete character shows as U+FFFD.
        ends: characters of ``text`` that the first i + 1 tokens account for. A token that ends
            inside a character accounts for none of it.
        whole: whether the first i + 1 tokens end at the end of a character, so that the text may
            be cut there.
    """

    text: str
    ends: tuple[int, ...]
    whole: tuple[bool, ...]

    def start(self, index: int) -> int:
        """Where token ``index`` begins in the text."""
        return self.ends[index - 1] if index else 0

    def cuts_before(self, index: int) -> bool:
        """Whether the text may be cut before token ``index``."""
        return index == 0 or self.whole[index - 1]


def spans(pieces: Sequence[bytes]) -> Spans:
    """Lay tokens out in their text.

    Args:
        pieces: the bytes of each token, in order.
    """
    decoder = codecs.getincrementaldecoder("utf-8")(errors="replace")
    parts: list[str] = []
    ends: list[int] = []
    whole: list[bool] = []
    length = 0
    for index, piece in enumerate(pieces):
        part = decoder.decode(piece, final=index == len(pieces) - 1)
        parts.append(part)
        length += len(part)
        ends.append(length)
        whole.append(not decoder.getstate()[0])
    return Spans("".join(parts), tuple(ends), tuple(whole))


@dataclass(frozen=True)
class Kept:
    """Tokens [start, stop) that an edit leaves as they are."""

    start: int
    stop: int


def splice(old: Spans, new_text: str) -> tuple[Kept | str, ...]:
    """Find the tokens that an edit does not touch, so that only what changed is encoded.

    Args:
        old: the tokens as they are.
        new_text: the text after the edit.

    Returns:
        Runs of kept tokens and texts to encode, in the order of the new text.
    """
    blocks = _unchanged(old.text, new_text)
    parts: list[Kept | str] = []
    done = first = 0
    for old_start, new_start, size in blocks:
        start = _cut_at_or_after(old, old_start, first)
        stop = _cut_at_or_before(old, old_start + size, start)
        if stop > start:
            shift = new_start - old_start
            parts.append(new_text[done : old.start(start) + shift])
            parts.append(Kept(start, stop))
            done, first = old.ends[stop - 1] + shift, stop
    parts.append(new_text[done:])
    return tuple(part for part in parts if part != "")


def cut_out(old: Spans, ranges: Sequence[tuple[int, int]]) -> tuple[Kept | str, ...]:
    """Take ranges of characters out, so that they are encoded anew in the same text.

    Args:
        old: the tokens as they are.
        ranges: where to, in order and apart; a token that reaches into one goes with it.

    Returns:
        As for :func:`splice`.
    """
    parts: list[Kept | str] = []
    first = 0
    for begin, end in ranges:
        start = _cut_at_or_before(old, begin, first)
        stop = _cut_at_or_after(old, end, start)
        if start > first:
            parts.append(Kept(first, start))
        parts.append(old.text[old.start(start) : old.start(stop)])
        first = stop
    if first < len(old.ends):
        parts.append(Kept(first, len(old.ends)))
    return tuple(parts)


SHORTEST_INNER = 8
"""An unchanged run inside the edited part counts from this many characters; a shorter one would
split the words around it (the "n" of Sydney in Canberra)."""

LARGEST_INNER = 1_000_000
"""Old × new characters of the edited part up to which it is searched: 0.2 s at most."""


def _unchanged(old: str, new: str) -> list[tuple[int, int, int]]:
    """Runs (start in old, start in new, size) that the edit left alone, in order."""
    head = _common_prefix(old, new)
    room = min(len(old), len(new)) - head
    tail = min(_common_prefix(old[::-1], new[::-1]), room)
    old_middle, new_middle = old[head : len(old) - tail], new[head : len(new) - tail]
    inner: list[tuple[int, int, int]] = []
    if len(old_middle) * len(new_middle) <= LARGEST_INNER:
        matcher = SequenceMatcher(None, old_middle, new_middle, autojunk=False)
        inner = [
            (head + block.a, head + block.b, block.size)
            for block in matcher.get_matching_blocks()
            if block.size >= SHORTEST_INNER
        ]
    return [(0, 0, head), *inner, (len(old) - tail, len(new) - tail, tail)]


def _common_prefix(a: str, b: str) -> int:
    """Length of the longest common prefix, by halving: slices compare at C speed."""
    low, high = 0, min(len(a), len(b))
    while low < high:
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def _cut_at_or_after(layout: Spans, character: int, first: int) -> int:
    """The first token, from ``first`` on, that starts a character at or after ``character``."""
    total = len(layout.ends)
    return next(
        (
            index
            for index in range(first, total)
            if layout.start(index) >= character and layout.cuts_before(index)
        ),
        total,
    )


def _cut_at_or_before(layout: Spans, character: int, first: int) -> int:
    """The last token, from ``first`` on, before which all end by ``character``, whole."""
    stop = first
    for index in range(first, len(layout.ends)):
        if layout.ends[index] > character:
            break
        if layout.whole[index]:
            stop = index + 1
    return stop
