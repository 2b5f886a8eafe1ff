from __future__ import annotations

import math

import pytest

from tokenloop.errors import SettingError
from tokenloop.sampling import SamplerSettings, check_seed


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", -0.1),
        ("temperature", math.nan),
        ("temperature", math.inf),
        ("temperature", True),
        ("temperature", "hot"),
        ("top_k", -1),
        ("top_k", 1.5),
        ("top_k", False),
        ("top_p", 1.01),
        ("top_p", -0.01),
        ("top_p", math.nan),
        ("min_p", 2.0),
        ("repeat_penalty", 0.0),
        ("repeat_penalty", -1.0),
        ("frequency_penalty", math.nan),
        ("presence_penalty", math.inf),
        ("repeat_last_n", -2),
        ("logit_bias", {-1: 1.0}),
        ("logit_bias", {1: math.nan}),
        ("logit_bias", {1: math.inf}),
        ("order", "vllm"),
    ],
)
def test_what_has_no_meaning_is_refused_in_one_line_that_names_it(name: str, value: object) -> None:
    with pytest.raises(SettingError) as caught:
        SamplerSettings(**{name: value})
    message = str(caught.value)
    assert message.startswith(name)
    assert "\n" not in message
    assert caught.value.allowed in message


def test_replace_checks_again() -> None:
    with pytest.raises(SettingError, match="top_p"):
        SamplerSettings().replace(top_p=1.5)


@pytest.mark.parametrize("seed", [-1, 2**64, 1.5, True, None])
def test_a_seed_out_of_range_is_refused(seed: object) -> None:
    with pytest.raises(SettingError, match="seed"):
        check_seed(seed)


def test_the_largest_seed_is_fine() -> None:
    assert check_seed(2**64 - 1) == 2**64 - 1
