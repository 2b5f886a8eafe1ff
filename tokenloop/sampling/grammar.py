"""Constrained decoding: which tokens a grammar allows after each text, by llguidance.

llguidance (https://github.com/guidance-ai/llguidance) walks a grammar byte by byte and tells which
entries of a vocabulary fit. It is an extra: ``pip install 'tokenloop[grammar]'``.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from tokenloop.errors import DistributionError, SettingError
from tokenloop.labels import clean
from tokenloop.sampling.candidates import Mask
from tokenloop.sampling.grammar_source import FaultyGrammarError, in_one_line, limits, source_of
from tokenloop.sampling.settings import Grammar, GrammarKind

if TYPE_CHECKING:
    from llguidance import LLMatcher, LLTokenizer

KINDS: dict[GrammarKind, str] = {
    "json_schema": "JSON Schema",
    "regex": "regex",
    "lark": "Lark",
    "gbnf": "GBNF",
}
"""A grammar's kind in words."""

INSTALL = "pip install 'tokenloop[grammar]'"

PLACES = 64
"""Matchers that a grammar keeps: at most 1 MiB each, after 8,000 tokens of JSON."""

COMPARED = 1024
"""New tokens up to which their cut is compared with the tokenizer's own."""


@dataclass(frozen=True, eq=False)
class Alphabet:
    """A vocabulary as a grammar sees it.

    Attributes:
        pieces: each token's bytes, by id; none for an unused id.
        special_ids: control tokens: no text of a grammar matches them.
        eos_ids: those that end a text.
        encode: a fragment of text as ids.
        label: how a token is printed.
    """

    pieces: Sequence[bytes]
    special_ids: Sequence[int]
    eos_ids: tuple[int, ...]
    encode: Callable[[str], list[int]]
    label: Callable[[int], str]

    @property
    def specials(self) -> dict[int, str]:
        """What a grammar may call the special tokens."""
        named = {*self.special_ids, *self.eos_ids}
        return {i: self.pieces[i].decode(errors="replace") for i in sorted(named)}

    @cached_property
    def tokenizer(self) -> LLTokenizer:
        """The vocabulary as llguidance holds it; made once (0.1 s for 49,152 tokens)."""
        from llguidance import LLTokenizer, TokenizerWrapper

        ends = list(self.eos_ids) or [len(self.pieces)]
        return LLTokenizer(TokenizerWrapper(_Wrapped(self, ends[0])), eos_token=ends)

    def cut_differs(self, ids: Sequence[int]) -> bool:
        """Whether the tokenizer would cut the text of ``ids`` otherwise.

        The last tokens are left out where they are only whitespace, whose cut depends on what
        follows; a text that ends within a character is taken for the tokenizer's own.
        """
        while ids and self.pieces[ids[-1]].isspace():
            ids = ids[:-1]
        if len(ids) > COMPARED:
            return False
        try:
            text = b"".join(self.pieces[token_id] for token_id in ids).decode()
        except UnicodeDecodeError:
            return False
        return self.encode(text) != list(ids)


class _Wrapped:
    """What llguidance's ``TokenizerWrapper`` asks a tokenizer for.

    A vocabulary without a token that ends a text gets one behind its last, which no mask shows.
    """

    def __init__(self, alphabet: Alphabet, eos_id: int) -> None:
        missing = eos_id == len(alphabet.pieces)
        self.eos_token_id = eos_id
        self.bos_token_id = None
        self.tokens = [*alphabet.pieces, b"<end>"] if missing else list(alphabet.pieces)
        self.special_token_ids = sorted({*alphabet.special_ids, *alphabet.eos_ids, eos_id})
        self._encode = alphabet.encode

    def __call__(self, text: bytes | str) -> list[int]:
        return self._encode(text.decode(errors="replace") if isinstance(text, bytes) else text)


class Outside:
    """A text that the grammar no longer constrains; a :class:`Constraint` that allows everything.

    Attributes:
        ids: the text's tokens.
        state: why, in one line.
        allowed: ``None``.
    """

    allowed: None = None

    def __init__(self, ids: tuple[int, ...], state: str) -> None:
        self.ids = ids
        self.state = state

    def after(self, ids: Sequence[int]) -> Outside:
        """The same: a text does not come back into a grammar."""
        return Outside((*self.ids, *ids), self.state)


class Inside:
    """Where a text stands in a grammar; a :class:`Constraint`.

    Attributes:
        ids: the text's tokens.
    """

    def __init__(self, alphabet: Alphabet, ids: tuple[int, ...], matcher: LLMatcher) -> None:
        self.ids = ids
        self._alphabet = alphabet
        self._matcher = matcher

    @property
    def allowed(self) -> Mask | None:
        """(vocab,) which tokens may come; ``None`` after the end of what no token can end.

        Raises:
            DistributionError: to tell costs more than a grammar may.
        """
        mask, may_end = self._mask_and_end
        return None if may_end and not mask.any() else mask

    @property
    def state(self) -> str:
        """Where the text stands in the grammar, in one line."""
        differs = self._alphabet.cut_differs(self.ids)
        return f"{self._end}{' · cut unlike the tokenizer would' if differs else ''}"

    @property
    def _end(self) -> str:
        mask, may_end = self._mask_and_end
        if not may_end:
            return "not complete yet" if mask.any() else "not complete"
        if not mask.any():
            return "complete, no token ends a text: the grammar no longer constrains"
        ends = list(self._alphabet.eos_ids)
        if np.count_nonzero(mask) > np.count_nonzero(mask[ends]):
            return "may end here"
        return "complete: only the end of the text is left"

    @cached_property
    def _mask_and_end(self) -> tuple[Mask, bool]:
        """The mask, and whether the text may end here."""
        matcher = self._matcher.deep_copy()  # an error would stick to the one that is kept
        size = len(self._alphabet.pieces)
        bits = np.frombuffer(matcher.compute_bitmask(), dtype=np.uint8)
        _check(matcher)
        if matcher.is_error():
            return np.zeros(size, dtype=np.bool_), False
        mask = np.unpackbits(bits, count=size, bitorder="little").astype(np.bool_)
        return mask, matcher.is_accepting()

    def after(self, ids: Sequence[int]) -> Inside | Outside:
        """Where the text stands once ``ids`` have followed.

        Raises:
            DistributionError: to tell costs more than a grammar may.
        """
        matcher, whole = self._matcher.deep_copy(), (*self.ids, *ids)
        for number, token_id in enumerate(ids, start=len(self.ids) + 1):
            ends = token_id in self._alphabet.eos_ids
            if ends and matcher.is_accepting():
                return Outside(whole, "the text has ended: the grammar no longer constrains")
            if ends or not matcher.consume_token(token_id):
                _check(matcher)
                where = f"left at new token {number:,} ({self._alphabet.label(token_id)})"
                return Outside(whole, f"{where}: the grammar no longer constrains")
        return Inside(self._alphabet, whole, matcher)


Place = Inside | Outside


REFUSALS = ("Parser Error: token", "parser stopped", "NoExtension")
"""How the errors begin by which a matcher says no, rather than that it can't tell."""


def _check(matcher: LLMatcher) -> None:
    error = matcher.get_error()
    if error and not error.startswith(REFUSALS):
        raise DistributionError(f"grammar: {clean(in_one_line(error))}")


class CompiledGrammar:
    """A grammar for one vocabulary: a pure function from new tokens to what may follow.

    Args:
        alphabet: the vocabulary.
        matcher: at the grammar's beginning.
    """

    def __init__(self, alphabet: Alphabet, matcher: LLMatcher) -> None:
        self._beginning = Inside(alphabet, (), matcher)
        self._places: OrderedDict[tuple[int, ...], Place] = OrderedDict()

    def at(self, new_ids: Sequence[int]) -> Place:
        """Where the grammar stands after the new tokens.

        The places of the last texts are kept, so that a step, a rewind or another branch walks only
        from the nearest one.
        """
        ids = tuple(new_ids)
        place = self._places.pop(ids, None)
        if place is None:
            nearest = self._nearest(ids)
            place = nearest.after(ids[len(nearest.ids) :])
        self._places[ids] = place
        if len(self._places) > PLACES:
            self._places.popitem(last=False)
        return place

    def _nearest(self, ids: tuple[int, ...]) -> Place:
        """The kept place of the longest text that ``ids`` begin with."""
        kept = self._places.get(ids[:-1])
        if kept is not None:
            return kept
        beginnings = (known for known in self._places if ids[: len(known)] == known)
        longest = max(beginnings, key=len, default=None)
        return self._beginning if longest is None else self._places[longest]


def compile_grammar(grammar: Grammar, alphabet: Alphabet) -> CompiledGrammar:
    """Make a grammar ready for a vocabulary.

    Raises:
        SettingError: the grammar is faulty or too costly, no text of this vocabulary matches it, or
            the extra is missing.
    """
    try:
        from llguidance import LLMatcher
    except ImportError:
        raise SettingError("grammar", KINDS[grammar.kind], f"it needs {INSTALL}") from None
    try:
        source = source_of(grammar.kind, grammar.text, alphabet.specials)
    except FaultyGrammarError as fault:
        raise _refused(grammar, str(fault)) from None
    matcher = LLMatcher(alphabet.tokenizer, source, log_level=0, limits=limits())
    if matcher.is_error():
        raise _refused(grammar, in_one_line(matcher.get_error()))
    compiled = CompiledGrammar(alphabet, matcher)
    mask = compiled.at(()).allowed
    if mask is None or not mask.any():
        raise _refused(grammar, "no text of this vocabulary matches it")
    return compiled


def _refused(grammar: Grammar, why: str) -> SettingError:
    text = " ".join(grammar.text[:80].split())
    shown = f"{text[:39]}…" if len(text) > 40 or len(grammar.text) > 80 else text
    return SettingError("grammar", shown, f"{KINDS[grammar.kind]}: {clean(why)}")
