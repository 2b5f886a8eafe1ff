"""Every setting of the sampler as an option, made from the table of settings."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import click

from tokenloop.cli.given_sampler import GivenSampler
from tokenloop.cli.options import (
    Command,
    Decorator,
    gathered,
    misuse,
    read_settings_file,
    sectioned,
)
from tokenloop.cli.param_types import IDS, TEXT, NamesType, NameType
from tokenloop.errors import TokenloopError
from tokenloop.sampling.orders import ORDER_NAMES, ORDERS
from tokenloop.sampling.parameters import MOST, PARAMETERS, Parameter
from tokenloop.sampling.presets import PRESETS
from tokenloop.sampling.settings import DEFAULT_SEED, SamplerSettings

if TYPE_CHECKING:
    from tokenloop.sampling.settings import Grammar

SAMPLER, TEMPERATURE, CUTS, REPETITION, TOKENS, MIROSTAT, GRAMMAR = (
    *("Sampler", "Sampler: temperature", "Sampler: cuts", "Sampler: repetition"),
    *("Sampler: single tokens, length", "Sampler: mirostat", "Sampler: grammar"),
)
SECTIONS: dict[str, tuple[str, ...]] = {
    TEMPERATURE: ("temperature", "dynamic_temperature", "smoothing"),
    CUTS: (
        *("top_k", "top_p", "min_p", "typical_p", "top_n_sigma", "top_a"),
        *("epsilon_cutoff", "eta_cutoff", "xtc", ""),
    ),
    REPETITION: ("penalties", "dry", "no_repeat_ngram"),
    TOKENS: ("min_length",),
    MIROSTAT: ("mirostat",),
}
"""The stages whose numbers stand under each heading."""

NONE = "none"
ESCAPES = {r"\n": "\n", r"\t": "\t", r"\r": "\r", r"\\": "\\"}


def known_presets() -> Iterator[tuple[str, str]]:
    """Name and meaning of each preset, for completion."""
    for preset in PRESETS.values():
        yield preset.name, preset.help
    with contextlib.suppress(TokenloopError):  # a faulty file completes nothing
        for name in read_settings_file().presets:
            yield name, "your own"


def _known_stages() -> Iterable[tuple[str, str]]:
    return [(name, "") for name in ORDERS["llamacpp"]]


def _known_stages_or_none() -> Iterable[tuple[str, str]]:
    return [*_known_stages(), (NONE, "nothing is off")]


def _given(
    *,
    seed: int | None,
    preset: str | None,
    greedy: bool,
    off: tuple[tuple[str, ...], ...],
    logit_bias: dict[int, float],
    ban: tuple[int, ...],
    dry_sequence_breaker: tuple[str, ...],
    json_schema: str | None,
    regex: str | None,
    grammar: str | None,
    **simple: Any,
) -> GivenSampler:
    """Gather what the options said.

    Raises:
        click.UsageError: two of them exclude each other, or a grammar can't be read.
    """
    changes = {name: value for name, value in simple.items() if value is not None}
    if greedy:
        if changes.get("temperature"):
            raise misuse("--greedy is temperature 0: give one or the other")
        changes["temperature"] = 0.0
    if off:
        changes["off"] = _unless_none(dict.fromkeys(name for names in off for name in names))
    if dry_sequence_breaker:
        breakers = _unless_none(dry_sequence_breaker)
        changes["dry_sequence_breakers"] = tuple(_unescaped(text) for text in breakers)
    biases = logit_bias | dict.fromkeys(ban, -float("inf"))
    if biases:
        changes["logit_bias"] = biases
    constraint = _constraint(json_schema=json_schema, regex=regex, grammar=grammar)
    if constraint is not None:
        changes["grammar"] = constraint
    return GivenSampler(preset, changes, seed, json_schema or grammar)


def _unless_none(names: Iterable[str]) -> tuple[str, ...]:
    names = tuple(names)
    return () if names == (NONE,) else names


def _unescaped(text: str) -> str:
    r"""A text with ``\n``, ``\t``, ``\r`` and ``\\`` in it read as what they stand for."""
    parts, rest = [], text
    while rest:
        step = 2 if rest[:2] in ESCAPES else 1
        parts.append(ESCAPES.get(rest[:step], rest[:step]))
        rest = rest[step:]
    return "".join(parts)


def _constraint(**given: str | None) -> Grammar | None:
    named = {name: value for name, value in given.items() if value is not None}
    if not named:
        return None
    if len(named) > 1:
        raise misuse("one of --json-schema, --regex and --grammar, not several")
    from tokenloop.cli.grammar_options import read_grammar

    [(kind, value)] = named.items()
    return read_grammar(kind, value)


def _logit_bias(_: click.Context, __: click.Parameter, values: tuple[str, ...]) -> dict[int, float]:
    biases: dict[int, float] = {}
    for value in values:
        token_id, _equals, bias = value.partition("=")
        try:
            biases[int(token_id)] = float(bias)
        except ValueError:
            wanted = "ID=BIAS, such as 16570=-2 or 16570=-inf"
            raise click.BadParameter(f"{value!r} is not {wanted}") from None
    return biases


def _bad_words(
    _: click.Context, __: click.Parameter, value: str | None
) -> tuple[tuple[int, ...], ...] | None:
    if value is None:
        return None
    words = value.split(";")
    for word in words:
        if not IDS.fullmatch(word):
            wanted = "token ids with a ; between sequences, such as 504,3575;282"
            raise click.BadParameter(f"{value!r} is not {wanted}")
    return tuple(tuple(int(part) for part in word.replace(",", " ").split()) for word in words)


def _number(parameter: Parameter, section: str) -> Decorator:
    """The option of one number, with its meaning, its range and its default."""
    default = getattr(SamplerSettings(), parameter.name)
    says = parameter.help[0].upper() + parameter.help[1:]
    reach = f"{parameter.low:g} to {parameter.high:g}"
    if parameter.whole and parameter.high == MOST:
        reach = f"from {parameter.low:g}"
    return sectioned(
        section,
        _flag(parameter.name),
        type=int if parameter.whole else float,
        metavar="N" if parameter.whole else "X",
        help=f"{says} (default {default:g}; {reach}).",
    )


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _numbers() -> dict[str, list[Decorator]]:
    """The options of all numbers, by section; what no section names stands with the sampler's."""
    numbers: dict[str, list[Decorator]] = {}
    headings = {stage: heading for heading, stages in SECTIONS.items() for stage in stages}
    for parameter in PARAMETERS.values():
        heading = headings.get(parameter.stage, SAMPLER)
        numbers.setdefault(heading, []).append(_number(parameter, heading))
    return numbers


_SPECIAL: dict[str, tuple[Decorator, ...]] = {
    SAMPLER: (
        sectioned(
            SAMPLER, "--seed", type=int, metavar="S",
            help=f"Where the draws come from (default {DEFAULT_SEED}).",
        ),
        sectioned(SAMPLER, "--greedy", is_flag=True, help="Take the best token: temperature 0."),
        sectioned(
            SAMPLER, "--preset", type=NameType(known_presets), metavar="NAME",
            help=f"Begin with {', '.join(PRESETS)} or one of your own, in place of the settings "
            "file's [sampler]; what else is given goes on top.",
        ),
        sectioned(
            SAMPLER, "--order", type=click.Choice(ORDER_NAMES),
            help="Whose order and definitions the sampler follows (default llamacpp).",
        ),
        sectioned(
            SAMPLER, "--stages", type=NamesType(_known_stages), metavar="A,B,C",
            help="Run these stages only, in this order (docs/sampling.md has their names).",
        ),
        sectioned(
            SAMPLER, "--off", type=NamesType(_known_stages_or_none), multiple=True,
            metavar="A,B", help="Switch stages off; none is none of them.",
        ),
    ),
    REPETITION: (
        sectioned(
            REPETITION, "--repeat-last-n", type=int, metavar="N",
            help="Last tokens that the penalties look at; -1 is all of them (default: 64 in "
            "llama.cpp's order, all in transformers').",
        ),
        sectioned(
            REPETITION, "--penalize-prompt/--no-penalize-prompt", default=None,
            help="Whether penalties, DRY and n-grams look at the prompt, too (default: yes).",
        ),
        sectioned(
            REPETITION, "--dry-sequence-breaker", type=TEXT, multiple=True, metavar="TEXT",
            help=r"A text that no repetition of DRY's reaches across, instead of the default ones "
            r'(\n : " *); may be given more than once. none is none.',
        ),
    ),
    TOKENS: (
        sectioned(
            TOKENS, "--logit-bias", callback=_logit_bias, multiple=True, metavar="ID=BIAS",
            help="Add to one token's logit; -inf bans it. May be given more than once.",
        ),
        sectioned(
            TOKENS, "--ban", type=click.IntRange(min=0), multiple=True, metavar="ID",
            help="Ban one token: a bias of -inf. May be given more than once.",
        ),
        sectioned(
            TOKENS, "--bad-words", callback=_bad_words, metavar='"1,2;3"',
            help="Sequences of token ids that must not come.",
        ),
    ),
    GRAMMAR: (
        sectioned(
            GRAMMAR, "--json-schema", type=click.Path(), metavar="FILE",
            help="The new text must be JSON that a JSON Schema allows.",
        ),
        sectioned(
            GRAMMAR, "--regex", type=TEXT, metavar="R",
            help="The new text must match a regular expression, all of it.",
        ),
        sectioned(
            GRAMMAR, "--grammar", type=click.Path(), metavar="FILE",
            help="The new text must follow a grammar in Lark's notation (.lark) or "
            "llama.cpp's (.gbnf).",
        ),
    ),
}  # fmt: skip
_SPECIAL_KEYS = (
    *("seed", "greedy", "preset", "order", "stages", "off", "repeat_last_n", "penalize_prompt"),
    *("dry_sequence_breaker", "logit_bias", "ban", "bad_words", "json_schema", "regex", "grammar"),
)


def sampler_options(function: Command) -> Command:
    """Give a command --seed and every setting of the sampler as one ``sampler``."""
    numbers = _numbers()
    headings = dict.fromkeys((SAMPLER, *SECTIONS, *_SPECIAL))
    options = [
        option
        for heading in headings
        for option in (*numbers.get(heading, ()), *_SPECIAL.get(heading, ()))
    ]
    return gathered(function, "sampler", _given, options, (*PARAMETERS, *_SPECIAL_KEYS))
