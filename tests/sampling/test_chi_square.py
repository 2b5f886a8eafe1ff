from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenloop.sampling.chi_square import chi_square, upper_tail


@pytest.mark.parametrize(
    ("statistic", "degrees", "p"),
    [
        # The usual tables' critical values (NIST/SEMATECH e-Handbook 1.3.6.7.4).
        (3.841, 1, 0.05),
        (5.991, 2, 0.05),
        (6.635, 1, 0.01),
        (7.815, 3, 0.05),
        (18.307, 10, 0.05),
        (43.820, 19, 0.001),
        (67.505, 50, 0.05),
        (124.342, 100, 0.05),
        (77.929, 100, 0.95),
    ],
)
def test_the_tail_is_the_tables(statistic: float, degrees: int, p: float) -> None:
    assert upper_tail(statistic, degrees) == pytest.approx(p, rel=2e-3)


@given(st.floats(0, 500), st.integers(1, 300))
def test_the_tail_follows_the_recurrence_and_stays_a_probability(x: float, degrees: int) -> None:
    # Q(a + 1, x) = Q(a, x) + x^a e^-x / Γ(a + 1): Abramowitz & Stegun 6.5.21.
    half, a = x / 2, degrees / 2
    step = math.exp(a * math.log(half) - half - math.lgamma(a + 1)) if half else 0.0
    expected = min(1.0, upper_tail(x, degrees) + step)
    assert upper_tail(x, degrees + 2) == pytest.approx(expected, abs=1e-12)
    assert 0 <= upper_tail(x, degrees) <= 1


def test_the_extremes_of_the_tail() -> None:
    assert upper_tail(0, 5) == 1
    assert upper_tail(1e6, 3) == 0
    # With many degrees χ² is nearly normal around them: half lies above its median.
    assert upper_tail(50_000 * (1 - 2 / (9 * 50_000)) ** 3, 50_000) == pytest.approx(0.5, abs=1e-4)


def test_a_worked_example() -> None:
    # 100 draws, expected 50, 30, 20: (45-50)²/50 + (35-30)²/30 + (20-20)²/20 = 0.5 + 0.8333.
    test = chi_square(np.array([45, 35, 20]), np.array([0.5, 0.3, 0.2]))
    assert test.statistic == pytest.approx(0.5 + 5 / 6)
    assert test.degrees == 2
    assert test.p_value == pytest.approx(math.exp(-test.statistic / 2))


def test_classes_that_expect_too_few_are_one() -> None:
    # Of 100: 60, 30, and 4 + 3 + 3 together.
    p = np.array([0.6, 0.3, 0.04, 0.03, 0.03])
    test = chi_square(np.array([60, 28, 6, 6, 0]), p)
    assert test.degrees == 2
    assert test.statistic == pytest.approx(4 / 30 + 4 / 10)


def test_a_rest_that_expects_too_few_takes_the_least_probable_class_along() -> None:
    # Of 100: 60, 38 and 2; the 2 alone would make 1 draw too many look like a miracle.
    test = chi_square(np.array([60, 36, 4]), np.array([0.6, 0.38, 0.02]))
    assert test.degrees == 1
    assert test.statistic == 0


@pytest.mark.parametrize(
    ("counts", "p"), [([100], [1.0]), ([1, 0], [0.5, 0.5]), ([7, 0], [1.0, 0.0])]
)
def test_one_class_can_prove_nothing(counts: list[int], p: list[float]) -> None:
    test = chi_square(np.array(counts), np.array(p))
    assert (test.statistic, test.degrees, test.p_value) == (None, 0, None)


def test_draws_from_another_distribution_are_found_out() -> None:
    counts = np.random.default_rng(0).multinomial(1000, [0.5, 0.3, 0.2])
    assert chi_square(counts, np.array([0.5, 0.3, 0.2])).p_value > 0.01
    assert chi_square(counts, np.array([0.4, 0.4, 0.2])).p_value < 1e-6
