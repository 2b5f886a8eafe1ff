"""The sampler's settings: plain values, checked once, then trusted."""

from __future__ import annotations

import math
from typing import Literal, get_args

from msgspec import Struct, structs

from tokenloop.errors import SettingError
from tokenloop.sampling.orders import ORDER_NAMES, ORDERS, STAGE_NAMES, Order
from tokenloop.sampling.parameters import MOST, PARAMETERS

DEFAULT_SEED = 7
MAX_SEED = 2**64 - 1

GrammarKind = Literal["json_schema", "regex", "lark", "gbnf"]
GRAMMAR_KINDS: tuple[GrammarKind, ...] = get_args(GrammarKind)
MOST_GRAMMAR = 1 << 20
"""Characters of a grammar at most."""


class Grammar(Struct, frozen=True):
    """What the new text must look like.

    Attributes:
        kind: how ``text`` is to be read.
        text: a JSON Schema, a regular expression, or a grammar in Lark's or llama.cpp's notation.
    """

    kind: GrammarKind
    text: str


class SamplerSettings(Struct, frozen=True, kw_only=True):
    """Every setting of the chain; the defaults are llama.cpp's.

    The numbers' meanings and ranges are in :mod:`tokenloop.sampling.parameters`.

    Attributes:
        order: which tradition's order and definitions the chain follows.
        stages: the stages to run, in another order than the tradition's; empty is the tradition's.
        off: stages that are switched off; their settings stay as they are.
        repeat_last_n: how many last tokens of the prefix the penalties look at; -1 is all of them,
            ``None`` is the order's own window (llama.cpp 64, transformers all).
        penalize_prompt: whether the penalties, DRY and the n-grams look at the prompt, too.
        dry_sequence_breakers: texts that no repetition reaches across.
        logit_bias: added to the logits, by token id; ``-inf`` bans.
        bad_words: sequences of token ids that must not come.
        grammar: what the new text must look like, or ``None``.
    """

    order: Order = "llamacpp"
    stages: tuple[str, ...] = ()
    off: tuple[str, ...] = ()
    temperature: float = 0.8
    dynatemp_range: float = 0.0
    dynatemp_exponent: float = 1.0
    smoothing_factor: float = 0.0
    smoothing_curve: float = 1.0
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    typical_p: float = 1.0
    top_n_sigma: float = 0.0
    top_a: float = 0.0
    epsilon_cutoff: float = 0.0
    eta_cutoff: float = 0.0
    xtc_probability: float = 0.0
    xtc_threshold: float = 0.1
    repeat_penalty: float = 1.0
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    repeat_last_n: int | None = None
    penalize_prompt: bool = True
    dry_multiplier: float = 0.0
    dry_base: float = 1.75
    dry_allowed_length: int = 2
    dry_penalty_last_n: int = -1
    dry_sequence_breakers: tuple[str, ...] = ("\n", ":", '"', "*")
    no_repeat_ngram_size: int = 0
    min_new_tokens: int = 0
    mirostat: int = 0
    mirostat_tau: float = 5.0
    mirostat_eta: float = 0.1
    min_keep: int = 1
    logit_bias: dict[int, float] = {}
    bad_words: tuple[tuple[int, ...], ...] = ()
    grammar: Grammar | None = None

    def __post_init__(self) -> None:
        """Refuse what has no meaning.

        Raises:
            SettingError: names the setting, its value and what is allowed.
        """
        if self.order not in ORDER_NAMES:
            raise SettingError("order", self.order, " or ".join(ORDER_NAMES))
        _stages("stages", self.stages)
        _stages("off", self.off)
        for name, parameter in PARAMETERS.items():
            parameter.check(getattr(self, name))
        if self.mirostat == 1:
            raise SettingError("mirostat", 1, "2, which is version 2, or 0, which is off")
        if self.repeat_last_n is not None:
            _whole("repeat_last_n", self.repeat_last_n, -1, MOST)
        if not isinstance(self.penalize_prompt, bool):
            raise SettingError("penalize_prompt", self.penalize_prompt, "true or false")
        _breakers(self.dry_sequence_breakers)
        for token_id, bias in self.logit_bias.items():
            _whole("logit_bias", token_id, 0, MOST)
            if bias != -math.inf:
                _bias(bias)
        _words(self.bad_words)
        _grammar(self.grammar)

    @property
    def chain(self) -> tuple[str, ...]:
        """The stages in the order in which they run, those switched off too."""
        return self.stages or ORDERS[self.order]

    @property
    def greedy(self) -> bool:
        """Whether nothing is drawn: T = 0 takes the best survivor."""
        return self.temperature == 0 and self.runs("temperature")

    def runs(self, stage: str) -> bool:
        """Whether a stage is in the chain and not switched off."""
        return stage in self.chain and stage not in self.off

    def replace(self, **changes: object) -> SamplerSettings:
        """The same settings with some changed, checked again.

        Raises:
            SettingError: as at construction.
        """
        return structs.replace(self, **changes)


def check_seed(seed: int) -> int:
    """Return ``seed`` if it is usable.

    Raises:
        SettingError: when it is no whole number in [0, 2**64).
    """
    _whole("seed", seed, 0, MAX_SEED)
    return seed


def _stages(name: str, stages: object) -> None:
    known = ", ".join(sorted(STAGE_NAMES))
    if not isinstance(stages, tuple) or not all(isinstance(stage, str) for stage in stages):
        raise SettingError(name, stages, f"names of stages: {known}")
    for stage in stages:
        if stage not in STAGE_NAMES:
            raise SettingError(name, stage, f"one of {known}")
        if stages.count(stage) > 1:
            raise SettingError(name, stage, "each stage once")


def _breakers(breakers: object) -> None:
    allowed = "texts of at least one character"
    if not isinstance(breakers, tuple):
        raise SettingError("dry_sequence_breakers", breakers, allowed)
    for breaker in breakers:
        if not isinstance(breaker, str) or not breaker:
            raise SettingError("dry_sequence_breakers", breaker, allowed)


def _words(words: object) -> None:
    allowed = "sequences of at least one token id"
    if not isinstance(words, tuple):
        raise SettingError("bad_words", words, allowed)
    for word in words:
        if not isinstance(word, tuple) or not word:
            raise SettingError("bad_words", word, allowed)
        for token_id in word:
            _whole("bad_words", token_id, 0, MOST)


def _grammar(grammar: object) -> None:
    if grammar is None:
        return
    if not isinstance(grammar, Grammar) or grammar.kind not in GRAMMAR_KINDS:
        raise SettingError("grammar", grammar, f"a kind of {', '.join(GRAMMAR_KINDS)} and a text")
    if not isinstance(grammar.text, str) or not 0 < len(grammar.text) <= MOST_GRAMMAR:
        shown = str(grammar.text)[:20]
        raise SettingError("grammar", shown, f"a text of 1 to {MOST_GRAMMAR:,} characters")


def _bias(value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= 1000:
        raise SettingError("logit_bias", value, "a number from -1000 to 1000, or -inf")


def _whole(name: str, value: object, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise SettingError(name, value, f"a whole number from {low} to {high}")
