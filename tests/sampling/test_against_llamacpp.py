"""The llamacpp order against llama.cpp's own samplers, where llama-cpp-python is installed.

No model is needed: its samplers work on a plain array of candidates. They reckon in float32, so a
cut is compared with ours at a threshold a little to either side.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.sampling.chains import chain_on, final
from tokenloop.sampling import Situation

llama = pytest.importorskip("llama_cpp").llama_cpp

FIELDS = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])


def theirs(logits: np.ndarray, *samplers: Any) -> dict[int, float]:
    """What llama.cpp's samplers leave, with its probability."""
    data = np.zeros(len(logits), dtype=FIELDS)
    data["id"], data["logit"] = np.arange(len(logits)), logits
    pointer = data.ctypes.data_as(llama.llama_token_data_p)
    array = llama.llama_token_data_array(pointer, len(data), -1, False)
    with chain_of(samplers) as chain:
        llama.llama_sampler_apply(chain, ctypes.byref(array))
    left = [(array.data[i].id, array.data[i].logit) for i in range(array.size)]
    left = [(token, logit) for token, logit in left if np.isfinite(logit)]
    scores = np.array([logit for _, logit in left], dtype=np.float64)
    weights = np.exp(scores - scores.max())
    tokens = [token for token, _ in left]
    return dict(zip(tokens, (weights / weights.sum()).tolist(), strict=True))


@contextmanager
def chain_of(samplers: tuple[Any, ...]) -> Iterator[Any]:
    chain = llama.llama_sampler_chain_init(llama.llama_sampler_chain_default_params())
    for sampler in samplers:
        llama.llama_sampler_chain_add(chain, sampler)
    yield chain
    llama.llama_sampler_free(chain)


def penalties(size: int, repeat: float, frequency: float, presence: float) -> Any:
    """llama.cpp's penalties over the last 64; newer versions ask for the vocabulary's size."""
    init = llama.llama_sampler_init_penalties
    numbers = (64, repeat, frequency, presence)
    return init(size, *numbers) if len(init.argtypes) == 5 else init(*numbers)


def ours(logits: np.ndarray, **values: Any) -> dict[int, float]:
    return final(chain_on(logits, Situation(chance=0.0), **values))


def check(they: dict[int, float], we: dict[int, float]) -> None:
    assert sorted(they) == sorted(we)
    assert [they[token] for token in we] == pytest.approx(list(we.values()), rel=1e-4, abs=1e-7)


def check_cut(they: dict[int, float], tighter: dict[int, float], looser: dict[int, float]) -> None:
    assert set(tighter) <= set(they) <= set(looser)
    if len(tighter) == len(looser):
        check(they, tighter)


def random_logits(seed: int, size: int, spread: float) -> np.ndarray:
    logits = np.random.default_rng(seed).standard_normal(size) * spread
    return logits.astype(np.float32)


def singles(low: float, high: float) -> st.SearchStrategy[float]:
    """Numbers that a float32 holds."""
    return st.floats(low, high).map(lambda value: float(np.float32(value)))


distributions = st.builds(
    random_logits,
    st.integers(0, 2**32 - 1),
    st.integers(5, 2000),
    st.sampled_from([0.1, 1.0, 3.0, 10.0]),
)
parts = singles(1 / 64, 63 / 64)
least_kept = st.integers(1, 9)
HAIR = 1e-4


@given(distributions, st.integers(1, 300))
def test_top_k(logits, k) -> None:
    check(theirs(logits, llama.llama_sampler_init_top_k(k)), ours(logits, top_k=k))


@given(distributions, parts, least_kept)
def test_top_p(logits, p, least) -> None:
    we = [ours(logits, top_p=q, min_keep=least) for q in (p - HAIR, p + HAIR)]
    check_cut(theirs(logits, llama.llama_sampler_init_top_p(p, least)), *we)


@given(distributions, parts, least_kept)
def test_min_p(logits, p, least) -> None:
    we = [ours(logits, min_p=q, min_keep=least) for q in (p + HAIR, p - HAIR)]
    check_cut(theirs(logits, llama.llama_sampler_init_min_p(p, least)), *we)


@given(distributions, parts, least_kept)
def test_typical_p(logits, p, least) -> None:
    we = [ours(logits, typical_p=q, min_keep=least) for q in (p - HAIR, p + HAIR)]
    they = theirs(logits, llama.llama_sampler_init_typical(p, least))
    # Two that are as near to the entropy but for rounding, one likelier, may come in either order.
    nearest = sorted(distance_from_entropy(logits)[list(they)])
    expected = sorted(distance_from_entropy(logits))[: len(they)]
    assert nearest == pytest.approx(expected, abs=1e-4)
    assert len(we[0]) <= len(they) + 1
    assert len(they) <= len(we[1]) + 1
    if sorted(we[0]) == sorted(we[1]) == sorted(they):
        check(they, we[0])


def distance_from_entropy(logits: np.ndarray) -> np.ndarray:
    scores = logits.astype(np.float64) - logits.max()
    surprise = np.log(np.exp(scores).sum()) - scores
    return np.abs(surprise - (np.exp(-surprise) * surprise).sum())


@given(distributions, singles(0.05, 4))
def test_top_n_sigma(logits, n) -> None:
    we = [ours(logits, top_n_sigma=m) for m in (n - HAIR, n + HAIR)]
    check_cut(theirs(logits, llama.llama_sampler_init_top_n_sigma(n)), *we)


@given(distributions, singles(0.01, 0.5), least_kept)
def test_xtc_that_always_acts(logits, threshold, least) -> None:
    values = {"xtc_probability": 1.0, "min_keep": least}
    moved = (threshold - 1e-6, threshold + 1e-6)
    we = [ours(logits, xtc_threshold=min(t, 0.5), **values) for t in moved]
    they = theirs(logits, llama.llama_sampler_init_xtc(1.0, threshold, least, 0))
    assert sorted(they) in [sorted(one) for one in we]


@given(distributions, singles(0.125, 5))
def test_temperature(logits, t) -> None:
    check(theirs(logits, llama.llama_sampler_init_temp(t)), ours(logits, temperature=t))


@given(distributions, singles(0.5, 2), singles(0.125, 1), parts)
def test_dynamic_temperature(logits, t, moves, exponent) -> None:
    sampler = llama.llama_sampler_init_temp_ext(t, moves, exponent)
    values = {"temperature": t, "dynatemp_range": moves, "dynatemp_exponent": exponent}
    check_close(theirs(logits, sampler), ours(logits, **values))


def check_close(they: dict[int, float], we: dict[int, float]) -> None:
    """Alike to what an entropy added up in float32 leaves."""
    assert sorted(they) == sorted(we)
    assert [they[token] for token in we] == pytest.approx(list(we.values()), rel=1e-2, abs=1e-5)


@given(distributions, singles(0.5, 8))
def test_mirostat_before_its_first_draw(logits, tau) -> None:
    they = theirs(logits, llama.llama_sampler_init_mirostat_v2(0, tau, 0.1))
    we = [ours(logits, mirostat=2, mirostat_tau=t) for t in (tau - HAIR, tau + HAIR)]
    check_cut(they, *we)


@given(
    distributions,
    st.integers(1, 400),
    parts,
    singles(0.01, 0.3),
    singles(0.25, 2),
)
@settings(max_examples=200)
def test_the_whole_chain_in_its_own_order(logits, k, p, min_p, t) -> None:
    they = theirs(
        logits,
        penalties(len(logits), 1.0, 0.0, 0.0),
        llama.llama_sampler_init_top_n_sigma(3.0),
        llama.llama_sampler_init_top_k(k),
        llama.llama_sampler_init_top_p(p, 1),
        llama.llama_sampler_init_min_p(min_p, 1),
        llama.llama_sampler_init_temp_ext(t, 0.0, 1.0),
    )
    values = {"top_n_sigma": 3.0, "top_k": k, "min_p": min_p, "temperature": t}
    we = [ours(logits, **{**values, "top_p": q}) for q in (p - HAIR, p, p + HAIR)]
    # A candidate at the very edge of a cut may fall on either side in float32.
    if len(we[0]) == len(we[2]) and len(they) == len(we[1]):
        check(they, we[1])
    assert abs(len(they) - len(we[1])) <= 1 + len(we[2]) - len(we[0])


@pytest.mark.parametrize("t", [0.0, 1e-3])
def test_greedy(t) -> None:
    logits = random_logits(1, 500, 3.0)
    they = theirs(logits, llama.llama_sampler_init_temp(t))
    we = ours(logits, temperature=t)
    assert max(they, key=lambda i: they[i]) == max(we, key=lambda i: we[i]) == logits.argmax()


@given(distributions, singles(0.5, 2), st.lists(st.integers(0, 4), max_size=80))
def test_penalties_over_the_last_64(logits, penalty, prefix) -> None:
    sampler = penalties(len(logits), penalty, 0.25, 0.5)
    for token in prefix:
        llama.llama_sampler_accept(sampler, token)
    values = {"repeat_penalty": penalty, "frequency_penalty": 0.25, "presence_penalty": 0.5}
    situation = Situation(prefix=tuple(prefix))
    check(theirs(logits, sampler), final(chain_on(logits, situation, **values)))
