from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenloop.sampling import (
    SamplerSettings,
    Situation,
    invert,
    raw_candidates,
    run_chain,
    uniform,
)

LOGITS = np.array([0.1, 2.0, 1.0, 2.0, -3.0], dtype=np.float32)


def test_u_is_the_same_for_the_same_three_numbers_for_ever() -> None:
    # Philox4x64-10 is a published function: these values are the file format's, not ours to change.
    assert uniform(7, 5, 0) == 0.42094387264159483
    assert uniform(7, 5, 1) == pytest.approx(uniform(7, 5, 1), abs=0)
    assert uniform(0, 0, 0) != uniform(0, 0, 1) != uniform(0, 1, 0)


def test_u_is_uniform_over_positions_attempts_and_seeds() -> None:
    for draws in (
        [uniform(7, position, 0) for position in range(4000)],
        [uniform(7, 5, attempt) for attempt in range(4000)],
        [uniform(seed, 5, 0) for seed in range(4000)],
    ):
        counts = np.histogram(draws, bins=20, range=(0, 1))[0]
        chi_square = float(((counts - 200) ** 2 / 200).sum())
        assert chi_square < 43.8  # 19 degrees of freedom, p = 0.001


def test_the_order_is_descending_probability_lowest_id_first_among_equals() -> None:
    candidates = raw_candidates(LOGITS)
    order = [invert(candidates, u).token_id for u in np.linspace(0, 0.99999, 2000)]
    seen = list(dict.fromkeys(order))
    assert seen == [1, 3, 2, 0, 4]


@given(st.floats(0, 1, exclude_max=True), st.lists(st.floats(-30, 30), min_size=1, max_size=600))
def test_the_interval_holds_u_and_is_as_wide_as_the_probability(
    u: float, logits: list[float]
) -> None:
    candidates = raw_candidates(np.array(logits, dtype=np.float32))
    drawn = invert(candidates, u)
    assert drawn.low <= u
    assert u < drawn.high or drawn.high == pytest.approx(1.0)
    p = candidates.probabilities_of(np.array([drawn.token_id]))[0]
    assert drawn.high - drawn.low == pytest.approx(p, abs=1e-12)
    low, high = candidates.interval_of(drawn.token_id)
    assert (low, high) == pytest.approx((drawn.low, drawn.high), abs=1e-12)


def test_what_is_displayed_is_what_is_drawn_chi_square() -> None:
    settings = SamplerSettings(temperature=0.8, top_k=4, top_p=1.0, min_p=0.0)
    final = run_chain(raw_candidates(LOGITS), Situation(), settings).final
    draws = 20_000
    counts = dict.fromkeys(final.ids.tolist(), 0)
    for attempt in range(draws):
        counts[invert(final, uniform(1, 0, attempt)).token_id] += 1
    expected = dict(zip(final.ids.tolist(), final.probabilities * draws, strict=True))
    chi_square = sum((counts[i] - expected[i]) ** 2 / expected[i] for i in counts)
    assert len(counts) == 4
    assert chi_square < 16.27  # 3 degrees of freedom, p = 0.001


def test_a_candidate_without_mass_is_never_drawn() -> None:
    candidates = raw_candidates(np.array([0.0, -2000.0], dtype=np.float32))
    assert invert(candidates, math.nextafter(1, 0)).token_id == 0
