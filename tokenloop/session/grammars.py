"""The session's grammars, compiled for its vocabulary."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property

from tokenloop.sampling import Constraint, Grammar, SamplerSettings
from tokenloop.sampling.grammar import Alphabet, CompiledGrammar, compile_grammar
from tokenloop.session.vocabulary import Vocabulary

KEPT = 4
"""Grammars that stay compiled: two chains side by side, and what was set before."""


class Grammars:
    """Compiles each grammar once; the last few are kept.

    Args:
        vocabulary: what the tokens stand for.
        eos_ids: tokens that end a text.
    """

    def __init__(self, vocabulary: Vocabulary, eos_ids: tuple[int, ...]) -> None:
        self._vocabulary = vocabulary
        self._eos_ids = eos_ids
        self._compiled: OrderedDict[Grammar, CompiledGrammar] = OrderedDict()

    def constraint(self, settings: SamplerSettings, new_ids: Sequence[int]) -> Constraint | None:
        """What the settings' grammar allows after the new tokens; ``None`` without one.

        Raises:
            SettingError: the grammar is faulty, or the extra that reads it is missing.
            DistributionError: to tell costs more than a grammar may.
        """
        if settings.grammar is None or not settings.runs("grammar"):
            return None
        return self._of(settings.grammar).at(new_ids)

    def _of(self, grammar: Grammar) -> CompiledGrammar:
        compiled = self._compiled.pop(grammar, None)
        if compiled is None:
            compiled = compile_grammar(grammar, self._alphabet)
        self._compiled[grammar] = compiled
        if len(self._compiled) > KEPT:
            self._compiled.popitem(last=False)
        return compiled

    @cached_property
    def _alphabet(self) -> Alphabet:
        return alphabet_of(self._vocabulary, self._eos_ids)


def alphabet_of(vocabulary: Vocabulary, eos_ids: tuple[int, ...]) -> Alphabet:
    """A vocabulary as a grammar sees it."""
    tokenizer = vocabulary.tokenizer
    return Alphabet(
        pieces=vocabulary.pieces,
        special_ids=[i for i in range(tokenizer.size) if tokenizer.is_special(i)],
        eos_ids=eos_ids,
        encode=vocabulary.encode,
        label=vocabulary.label,
    )
