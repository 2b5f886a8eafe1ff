from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenloop.sampling import invert, invert_each, raw_candidates, uniforms

NUMBERS = np.concatenate([uniforms(7, 5, np.arange(400)), [0.0, np.nextafter(1, 0)]])


def same(logits: np.ndarray) -> None:
    candidates = raw_candidates(logits.astype(np.float32))
    one_by_one = [invert(candidates, float(number)).token_id for number in NUMBERS]
    assert invert_each(candidates, NUMBERS).tolist() == one_by_one


@given(st.lists(st.floats(-40, 40, width=32) | st.sampled_from([0.0, 1.0, -2000.0]), min_size=1))
def test_many_numbers_fall_where_each_one_does(logits: list[float]) -> None:
    same(np.array(logits))


@pytest.mark.parametrize("spread", [0.0, 1e-4, 0.3, 3.0])
def test_in_wide_vocabularies_too_flat_or_peaked(spread: float) -> None:
    # More candidates than are sorted at first, so that the levels are needed.
    same(np.random.default_rng(1).normal(size=3000).round(2) * spread)


def test_no_numbers_fall_nowhere() -> None:
    assert invert_each(raw_candidates(np.zeros(9, dtype=np.float32)), np.empty(0)).tolist() == []
