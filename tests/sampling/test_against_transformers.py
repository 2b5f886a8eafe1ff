"""The transformers order against transformers' own processors, run in float64.

Every cut there keeps the nearest by some key: the likeliest, or the most typical. So ours must
keep the n nearest by the same key, for an n that their processor keeps too when its threshold is
moved by a billionth to either side: where rounding decides, either is right.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.sampling.chains import chain_on
from tokenloop.sampling import Situation

torch = pytest.importorskip("torch")
process = pytest.importorskip("transformers.generation.logits_process")

HAIR = 1e-9

Logits = np.ndarray
Processor = Callable[[object, object], "torch.Tensor"]


def drawn(seed: int, size: int, spread: float, *, steps: bool, banned: float) -> Logits:
    """Random logits: ``steps`` makes many of them equal, ``banned`` is the part at −∞."""
    random = np.random.default_rng(seed)
    logits = random.standard_normal(size) * spread
    if steps:
        logits = np.round(logits / spread * 2) / 2 * spread
    logits[random.random(size) < banned] = -np.inf
    logits[random.integers(size)] = spread  # one is finite
    return logits.astype(np.float32)


def distributions(sizes: st.SearchStrategy[int]) -> st.SearchStrategy[Logits]:
    return st.builds(
        drawn,
        st.integers(0, 2**32 - 1),
        sizes,
        st.sampled_from([1e-6, 0.1, 1.0, 3.0, 20.0, 1e4, 1e30]),
        steps=st.booleans(),
        banned=st.sampled_from([0.0, 0.0, 0.3, 0.9]),
    )


small = distributions(st.integers(5, 300))
large = distributions(st.integers(20_000, 50_000))
parts = st.floats(0.001, 0.999)
least_kept = st.integers(1, 12)


def theirs(logits: Logits, *processors: Processor, prefix: tuple[int, ...] = ()) -> Logits:
    scores = torch.from_numpy(logits.astype(np.float64))[None]
    for processor in processors:
        scores = processor(torch.tensor([prefix]), scores)
    return scores[0].numpy()


def count(logits: Logits, processor: Processor) -> int:
    return int(np.isfinite(theirs(logits, processor)).sum())


def likeliest(logits: Logits) -> np.ndarray:
    return -logits.astype(np.float64)


def most_typical(logits: Logits) -> np.ndarray:
    logps = torch.from_numpy(logits.astype(np.float64)).log_softmax(-1).numpy()
    finite = np.where(np.isfinite(logps), logps, 0)
    return np.abs(-logps + (np.exp(logps) * finite).sum())


def check_cut(
    logits: Logits, key: np.ndarray, tighter: Processor, looser: Processor, **ours: object
) -> None:
    kept = chain_on(logits, order="transformers", **ours).final.ids
    nearest = np.sort(key)[: len(kept)]
    np.testing.assert_allclose(np.sort(key[kept]), nearest, rtol=HAIR, atol=HAIR)
    assert count(logits, tighter) <= len(kept) <= count(logits, looser)


# --- each cut -----------------------------------------------------------------------------------


def check_top_k(logits: Logits, k: int, least: int) -> None:
    same = process.TopKLogitsWarper(k, min_tokens_to_keep=least)
    check_cut(logits, likeliest(logits), same, same, top_k=k, min_keep=least)


def check_top_p(logits: Logits, p: float, least: int) -> None:
    ways = [process.TopPLogitsWarper(q, min_tokens_to_keep=least) for q in (p - HAIR, p + HAIR)]
    check_cut(logits, likeliest(logits), *ways, top_p=p, min_keep=least)


def check_min_p(logits: Logits, p: float, least: int) -> None:
    # Among probabilities of exactly 0 theirs can't tell the next best from what is banned.
    assume(np.count_nonzero(np.exp(logits.astype(np.float64) - logits.max())) >= least)
    ways = [process.MinPLogitsWarper(q, min_tokens_to_keep=least) for q in (p + HAIR, p - HAIR)]
    check_cut(logits, likeliest(logits), *ways, min_p=p, min_keep=least)


def check_typical_p(logits: Logits, p: float, least: int) -> None:
    ways = [process.TypicalLogitsWarper(q, min_tokens_to_keep=least) for q in (p - HAIR, p + HAIR)]
    check_cut(logits, most_typical(logits), *ways, typical_p=p, min_keep=least)


def check_epsilon(logits: Logits, epsilon: float, least: int) -> None:
    moved = (epsilon * (1 + HAIR), epsilon * (1 - HAIR))
    ways = [process.EpsilonLogitsWarper(e, min_tokens_to_keep=least) for e in moved]
    check_cut(logits, likeliest(logits), *ways, epsilon_cutoff=epsilon, min_keep=least)


def check_eta(logits: Logits, epsilon: float, least: int) -> None:
    moved = (epsilon * (1 + 1e-6), epsilon * (1 - 1e-6))  # theirs is a float32
    ways = [process.EtaLogitsWarper(e, min_tokens_to_keep=least) for e in moved]
    check_cut(logits, likeliest(logits), *ways, eta_cutoff=epsilon, min_keep=least)


CUTS = {
    "top_p": check_top_p,
    "min_p": check_min_p,
    "typical_p": check_typical_p,
    "epsilon_cutoff": check_epsilon,
    "eta_cutoff": check_eta,
}
each_cut = pytest.mark.parametrize("name", CUTS)


@given(small, st.integers(1, 400), least_kept)
def test_top_k(logits: Logits, k: int, least: int) -> None:
    check_top_k(logits, k, least)


@each_cut
@given(small, parts, least_kept)
def test_a_cut(name: str, logits: Logits, value: float, least: int) -> None:
    CUTS[name](logits, value, least)


@each_cut
@given(small, st.sampled_from([2e-5, 3e-4, 0.01, 0.05, 0.95, 0.99]))
def test_a_cut_as_it_is_mostly_set(name: str, logits: Logits, value: float) -> None:
    CUTS[name](logits, value, 1)


@given(large, st.integers(1, 60_000))
@settings(max_examples=5)
def test_top_k_of_a_whole_vocabulary(logits: Logits, k: int) -> None:
    check_top_k(logits, k, 1)


@each_cut
@given(large, st.sampled_from([2e-5, 3e-4, 0.05, 0.5, 0.95]))
@settings(max_examples=5)
def test_a_cut_of_a_whole_vocabulary(name: str, logits: Logits, value: float) -> None:
    CUTS[name](logits, value, 1)


# --- what reshapes ------------------------------------------------------------------------------


@given(small, st.floats(0.05, 20))
def test_temperature(logits: Logits, t: float) -> None:
    left = chain_on(logits, order="transformers", temperature=t).final
    scores = theirs(logits, process.TemperatureLogitsWarper(t))
    assert left.ids.tolist() == np.flatnonzero(np.isfinite(scores)).tolist()
    np.testing.assert_allclose(left.logits, scores[left.ids], rtol=1e-12)


@given(small, st.floats(0.2, 5), st.lists(st.integers(0, 4), min_size=1, max_size=12))
def test_repetition_penalty_over_the_whole_prefix(logits, penalty, prefix) -> None:
    situation = Situation(prefix=tuple(prefix))
    left = chain_on(logits, situation, "transformers", repeat_penalty=penalty).final
    processor = process.RepetitionPenaltyLogitsProcessor(penalty)
    scores = theirs(logits, processor, prefix=tuple(prefix))
    np.testing.assert_allclose(left.logits, scores[left.ids], rtol=1e-12)


# --- all of them, in transformers' order --------------------------------------------------------


@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.integers(5, 3000),
    t=st.floats(0.3, 3),
    k=st.integers(1, 200),
    p=st.floats(0.1, 0.99),
    min_p=st.floats(0.001, 0.3),
    typical=st.floats(0.1, 0.99),
    epsilon=st.floats(1e-5, 0.1),
    eta=st.floats(1e-5, 0.1),
    least=st.integers(1, 4),
)
def test_the_whole_chain(seed, size, t, k, p, min_p, typical, epsilon, eta, least) -> None:
    logits = drawn(seed, size, 2.0, steps=False, banned=0.0)
    scores = theirs(
        logits,
        process.TemperatureLogitsWarper(t),
        process.TopKLogitsWarper(k, min_tokens_to_keep=least),
        process.TopPLogitsWarper(p, min_tokens_to_keep=least),
        process.MinPLogitsWarper(min_p, min_tokens_to_keep=least),
        process.TypicalLogitsWarper(typical, min_tokens_to_keep=least),
        process.EpsilonLogitsWarper(epsilon, min_tokens_to_keep=least),
        process.EtaLogitsWarper(eta, min_tokens_to_keep=least),
    )
    ours = chain_on(
        logits,
        order="transformers",
        temperature=t,
        top_k=k,
        top_p=p,
        min_p=min_p,
        typical_p=typical,
        epsilon_cutoff=epsilon,
        eta_cutoff=eta,
        min_keep=least,
    ).final
    assert ours.ids.tolist() == np.flatnonzero(np.isfinite(scores)).tolist()
    expected = torch.from_numpy(scores).softmax(-1).numpy()[ours.ids]
    np.testing.assert_allclose(ours.probabilities, expected, rtol=1e-9)
