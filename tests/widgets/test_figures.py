from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tokenloop_widgets.drawing.figures import (
    PERCENT_WIDTH,
    bits,
    count,
    milliseconds,
    percent,
    percentile,
    perplexity,
    setting,
    short_percent,
    size,
    stage_name,
    surprisal,
)


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.36168, "36.2 %"),
        (1.0, "100.0 %"),
        (0.0, "0.0 %"),
        (0.0004, "< 0.1 %"),
        (0.0005, "0.1 %"),
        (None, "—"),
    ],
)
def test_percent(p: float | None, text: str) -> None:
    assert percent(p) == text


@given(st.floats(0, 1))
@example(0.005)
@example(0.0005)
def test_percents_keep_their_width_and_never_print_a_false_zero(p: float) -> None:
    assert len(percent(p)) <= PERCENT_WIDTH
    assert len(short_percent(p)) <= 4
    if p > 0:
        assert percent(p) != "0.0 %"
        assert short_percent(p) != "0 %"


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (46_080, "45.0 KiB"),
        (5 * 46_080, "225 KiB"),
        (1023 * 1024, "1.0 MiB"),
        (8192 * 46_080, "360 MiB"),
        (3 * 2**30, "3.0 GiB"),
        (5000 * 2**40, "5000 TiB"),
    ],
)
def test_size(n: int, text: str) -> None:
    assert size(n) == text


@pytest.mark.parametrize(
    ("ms", "text"),
    [(25.08, "25.1 ms"), (377.4, "377 ms"), (999.6, "1.00 s"), (6800, "6.80 s"), (None, "—")],
)
def test_milliseconds(ms: float | None, text: str) -> None:
    assert milliseconds(ms) == text


def test_counts_bits_settings_and_names() -> None:
    assert count(49_152) == "49,152"
    assert bits(3.5774) == "3.58 bits"
    assert bits(-0.0) == "0.00 bits"
    assert bits(None) == "—"
    assert [setting(value) for value in (0.8, 0.95, 0.125, 40, 1.0, "x")] == [
        "0.80",
        "0.95",
        "0.125",
        "40",
        "1.00",
        "x",
    ]
    assert stage_name("top_k") == "top-k"
    assert stage_name("dry") == "DRY"
    assert stage_name("new_stage") == "new-stage"


@given(st.lists(st.floats(0, 1e6), min_size=1).map(tuple), st.floats(0.01, 1))
def test_percentile_is_a_measured_value_with_enough_below_it(
    values: tuple[float, ...], part: float
) -> None:
    at = percentile(values, part)
    assert at in values
    assert at is not None
    assert sum(value <= at for value in values) >= part * len(values) - 1e-6


def test_percentile_of_nothing_is_not_known() -> None:
    assert percentile((), 0.5) is None
    assert percentile((3.0,), 0.95) == 3.0
    assert percentile((1.0, 2.0, 3.0, 4.0), 0.5) == 2.0


@pytest.mark.parametrize(
    ("entropy", "text"), [(0.0, "1.00"), (1.4580, "2.75"), (3.577, "11.9"), (17.98, "258,535")]
)
def test_perplexity_in_few_digits(entropy: float, text: str) -> None:
    assert perplexity(entropy) == text


def test_surprisal_of_certain_and_impossible() -> None:
    assert surprisal(1.0) == "0.00 bits"
    assert surprisal(0.25) == "2.00 bits"
    assert surprisal(0.0) == "∞ bits"
