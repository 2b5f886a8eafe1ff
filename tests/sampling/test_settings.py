from __future__ import annotations

import math

import pytest

from tokenloop.errors import SettingError
from tokenloop.sampling import (
    ORDERS,
    PARAMETERS,
    STAGES,
    Grammar,
    Parameter,
    SamplerSettings,
    check_seed,
)
from tokenloop.sampling.settings import MOST_GRAMMAR


def refused(name: str, value: object) -> SettingError:
    with pytest.raises(SettingError) as caught:
        SamplerSettings(**{name: value})
    message = str(caught.value)
    assert message.startswith(f"{name} = ")
    assert "\n" not in message
    assert caught.value.allowed in message
    return caught.value


@pytest.mark.parametrize("parameter", PARAMETERS.values(), ids=lambda parameter: parameter.name)
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, True, False, "1", None, [1]])
def test_no_number_is_anything_but_a_number(parameter: Parameter, value: object) -> None:
    assert refused(parameter.name, value).allowed == parameter.allowed


@pytest.mark.parametrize("parameter", PARAMETERS.values(), ids=lambda parameter: parameter.name)
def test_every_number_is_held_to_its_range_whose_ends_are_allowed(parameter: Parameter) -> None:
    step = 1 if parameter.whole else 1e-6
    kind = int if parameter.whole else float
    for end, beyond in ((parameter.low, -step), (parameter.high, step)):
        allowed = SamplerSettings(**{parameter.name: kind(end)})
        assert getattr(allowed, parameter.name) == end
        refused(parameter.name, kind(end) + beyond)


@pytest.mark.parametrize("name", [one.name for one in PARAMETERS.values() if one.whole])
def test_a_whole_number_is_whole(name: str) -> None:
    refused(name, 1.5)
    refused(name, 2.0)


def test_every_number_of_the_settings_is_in_the_table_and_has_its_stage() -> None:
    numbers = {
        name
        for name, default in zip(
            SamplerSettings.__struct_fields__, SamplerSettings.__struct_defaults__, strict=True
        )
        if isinstance(default, int | float) and not isinstance(default, bool)
    }
    assert numbers == set(PARAMETERS)
    assert {parameter.stage for parameter in PARAMETERS.values()} - {""} <= set(STAGES)


def test_mirostat_1_is_refused_by_name() -> None:
    assert "version 2" in refused("mirostat", 1).allowed


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("repeat_last_n", -2),
        ("repeat_last_n", 1.5),
        ("repeat_last_n", True),
        ("penalize_prompt", 1),
        ("penalize_prompt", "yes"),
        ("logit_bias", {-1: 1.0}),
        ("logit_bias", {True: 1.0}),
        ("logit_bias", {"1": 1.0}),
        ("logit_bias", {1: math.nan}),
        ("logit_bias", {1: math.inf}),
        ("logit_bias", {1: 1001.0}),
        ("logit_bias", {1: True}),
        ("logit_bias", {1: "x"}),
        ("order", "vllm"),
        ("order", None),
        ("stages", ("top_k", "top_q")),
        ("stages", ("top_k", "min_p", "top_k")),
        ("stages", "top_k"),
        ("stages", ["top_k"]),
        ("stages", (1,)),
        ("off", ("everything",)),
        ("off", ("top_k", "top_k")),
        ("off", "top_k"),
        ("dry_sequence_breakers", ("",)),
        ("dry_sequence_breakers", (1,)),
        ("dry_sequence_breakers", "\n"),
        ("dry_sequence_breakers", ["\n"]),
        ("bad_words", ((),)),
        ("bad_words", ((-1,),)),
        ("bad_words", ((1.0,),)),
        ("bad_words", ((True,),)),
        ("bad_words", (1, 2)),
        ("bad_words", ([1],)),
        ("bad_words", "damn"),
        ("grammar", "root ::= x"),
        ("grammar", Grammar("ebnf", "x")),
        ("grammar", Grammar("regex", "")),
        ("grammar", Grammar("regex", None)),
        ("grammar", Grammar("lark", "x" * (MOST_GRAMMAR + 1))),
    ],
)
def test_what_has_no_meaning_is_refused_in_one_line_that_names_it(name: str, value: object) -> None:
    message = str(refused(name, value))
    assert len(message) < 600


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("stages", ()),
        ("stages", ("xtc",)),
        ("stages", tuple(reversed(ORDERS["llamacpp"]))),
        ("off", tuple(STAGES)),
        ("dry_sequence_breakers", ()),
        ("dry_sequence_breakers", ("\n\n", "###")),
        ("bad_words", ()),
        ("bad_words", ((1,), (2, 3, 2))),
        ("grammar", Grammar("regex", "[0-9]+")),
        ("repeat_last_n", None),
        ("repeat_last_n", -1),
        ("logit_bias", {0: -math.inf, 5: 1000}),
    ],
)
def test_what_has_a_meaning_is_taken(name: str, value: object) -> None:
    assert getattr(SamplerSettings(**{name: value}), name) == value


def test_the_chain_is_the_orders_own_or_the_persons() -> None:
    assert SamplerSettings(order="transformers").chain == ORDERS["transformers"]
    own = SamplerSettings(stages=("top_p", "top_k"), off=("top_k",))
    assert own.chain == ("top_p", "top_k")
    assert own.runs("top_p")
    assert not own.runs("top_k")
    assert not own.runs("min_p")


def test_greedy_needs_a_temperature_that_runs() -> None:
    assert SamplerSettings(temperature=0.0).greedy
    assert not SamplerSettings(temperature=0.0, off=("temperature",)).greedy
    assert not SamplerSettings(temperature=0.0, stages=("top_k",)).greedy


def test_replace_checks_again() -> None:
    with pytest.raises(SettingError, match="top_p"):
        SamplerSettings().replace(top_p=1.5)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, True, None])
def test_a_seed_out_of_range_is_refused(seed: object) -> None:
    with pytest.raises(SettingError, match="seed"):
        check_seed(seed)


def test_the_largest_seed_is_fine() -> None:
    assert check_seed(2**64 - 1) == 2**64 - 1
