"""Where tokens lie in their text, and which of them an edit of that text leaves alone."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass


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
class Splice:
    """An edit in terms of tokens.

    Attributes:
        head: how many first tokens stay as they are.
        middle: the text between, to encode.
        tail: how many last tokens keep their ids.
    """

    head: int
    middle: str
    tail: int


def splice(old: Spans, new_text: str) -> Splice:
    """Find the tokens that an edit does not touch, so that only what changed is encoded.

    Args:
        old: the tokens as they are.
        new_text: the text after the edit.
    """
    same = _common_prefix(old.text, new_text)
    head = _tokens_within(old, same)
    start = old.ends[head - 1] if head else 0
    room = min(len(old.text), len(new_text)) - start
    same_end = min(_common_prefix(old.text[::-1], new_text[::-1]), room)
    tail_start = _first_cut(old, len(old.text) - same_end, at_least=head)
    tail = len(old.ends) - tail_start
    tail_characters = len(old.text) - (old.ends[tail_start - 1] if tail_start else 0)
    return Splice(head, new_text[start : len(new_text) - tail_characters], tail)


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


def _tokens_within(layout: Spans, characters: int) -> int:
    """The most first tokens that lie wholly within the first ``characters``."""
    count = 0
    for index, (end, whole) in enumerate(zip(layout.ends, layout.whole, strict=True)):
        if end > characters:
            break
        if whole:
            count = index + 1
    return count


def _first_cut(layout: Spans, characters: int, *, at_least: int) -> int:
    """The first token that a kept tail may begin with: at or after ``characters``."""
    total = len(layout.ends)
    for count in range(at_least, total):
        end = layout.ends[count - 1] if count else 0
        whole = layout.whole[count - 1] if count else True
        if end >= characters and whole:
            return count
    return total
