"""Many counters at once against numpy's own Philox, which is the reference."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tokenloop.sampling import uniform, uniforms
from tokenloop.sampling.philox import philox

words = st.integers(0, 2**64 - 1)


attempts_of_a_place = st.lists(st.integers(0, 2**63 - 1), max_size=9)


@given(words, st.integers(0, 2**40), attempts_of_a_place, st.integers(0, 1))
def test_many_attempts_are_each_the_number_of_the_draw(
    seed: int, position: int, attempts: list[int], stream: int
) -> None:
    many = uniforms(seed, position, np.array(attempts, dtype=np.int64), stream)
    assert many.tolist() == [uniform(seed, position, attempt, stream) for attempt in attempts]


@given(st.tuples(words, words), st.lists(words, min_size=4, max_size=4))
def test_all_four_words_are_numpys(key: tuple[int, int], counter: list[int]) -> None:
    # numpy advances the counter before it makes a block.
    before = (sum(word << 64 * place for place, word in enumerate(counter)) - 1) % 2**256
    generator = np.random.Philox(
        key=np.array(key, dtype=np.uint64),
        counter=np.array([before >> 64 * place & 2**64 - 1 for place in range(4)], dtype=np.uint64),
    )
    block = philox([np.array([word], dtype=np.uint64) for word in counter], key)
    assert [int(word[0]) for word in block] == generator.random_raw(4).tolist()
