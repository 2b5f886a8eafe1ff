"""The stages that look at the prefix, against transformers' own processors in float64."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sampling.chains import chain_on
from tokenloop.errors import DistributionError
from tokenloop.sampling import Situation

torch = pytest.importorskip("torch")
process = pytest.importorskip("transformers.generation.logits_process")

Processor = Callable[[object, object], "torch.Tensor"]
Prefix = list[int]


def random_logits(seed: int, size: int, spread: float, banned: float) -> np.ndarray:
    random = np.random.default_rng(seed)
    logits = random.standard_normal(size) * spread
    logits[random.random(size) < banned] = -np.inf
    logits[random.integers(size)] = spread  # one is finite
    return logits.astype(np.float32)


distributions = st.builds(
    random_logits,
    st.integers(0, 2**32 - 1),
    st.sampled_from([5, 6, 9, 40, 300, 300, 2000, 50_000]),
    st.sampled_from([1e-6, 1.0, 20.0, 1e30]),
    st.sampled_from([0.0, 0.0, 0.5]),
)
# Few different ids, so that much repeats; all below the smallest vocabulary.
prefixes = st.lists(st.integers(0, 4), min_size=1, max_size=40)
ids = st.integers(0, 4)


def check(logits: np.ndarray, situation: Situation, processor: Processor, **ours: object) -> None:
    """Both leave the same candidates with the same logits; or nothing, which is refused here."""
    scores = torch.from_numpy(logits.astype(np.float64))[None]
    theirs = processor(torch.tensor([list(situation.prefix)]), scores)[0].numpy()
    try:
        left = chain_on(logits, situation, "transformers", **ours).final
    except DistributionError:
        assert not np.isfinite(theirs).any()
        return
    assert left.ids.tolist() == np.flatnonzero(np.isfinite(theirs)).tolist()
    assert left.logits == pytest.approx(theirs[left.ids], rel=1e-12, abs=0)


@given(distributions, prefixes, st.floats(0.1, 10))
def test_repetition(logits: np.ndarray, prefix: Prefix, penalty: float) -> None:
    processor = process.RepetitionPenaltyLogitsProcessor(penalty)
    check(logits, Situation(prefix), processor, repeat_penalty=penalty)


@given(distributions, prefixes, st.floats(0.1, 10), st.data())
def test_repetition_without_the_prompt(logits, prefix, penalty, data) -> None:
    prompt = data.draw(st.integers(0, len(prefix) - 1))
    processor = process.RepetitionPenaltyLogitsProcessor(penalty, prompt_ignore_length=prompt)
    situation = Situation(prefix, prompt)
    check(logits, situation, processor, repeat_penalty=penalty, penalize_prompt=False)


@given(distributions, prefixes, st.integers(1, 6))
def test_no_repeat_ngram(logits: np.ndarray, prefix: Prefix, size: int) -> None:
    processor = process.NoRepeatNGramLogitsProcessor(size)
    check(logits, Situation(prefix), processor, no_repeat_ngram_size=size)


@given(
    distributions,
    prefixes,
    st.lists(st.lists(ids, min_size=1, max_size=4), min_size=1, max_size=6),
    st.lists(ids, max_size=2, unique=True),
)
def test_bad_words(logits, prefix, words, eos) -> None:
    processor = process.NoBadWordsLogitsProcessor(words, eos_token_id=eos or None)
    if not processor.sequence_bias:  # theirs fails where only ends of text were given
        return
    situation = Situation(prefix, eos_ids=tuple(eos))
    check(logits, situation, processor, bad_words=tuple(map(tuple, words)))


@given(
    distributions,
    prefixes,
    st.integers(1, 12),
    st.lists(ids, min_size=1, max_size=3, unique=True),
    st.data(),
)
def test_least_length(logits, prefix, least, eos, data) -> None:
    prompt = data.draw(st.integers(0, len(prefix)))
    processor = process.MinNewTokensLengthLogitsProcessor(prompt, least, eos)
    check(logits, Situation(prefix, prompt, tuple(eos)), processor, min_new_tokens=least)


@given(
    distributions,
    st.dictionaries(ids, st.just(-math.inf) | st.floats(-100, 100, width=32), min_size=1),
)
def test_bias(logits: np.ndarray, biases: dict[int, float]) -> None:
    theirs = {(token_id,): bias for token_id, bias in biases.items()}
    processor = process.SequenceBiasLogitsProcessor(theirs)
    check(logits, Situation((0,)), processor, logit_bias=biases)


@given(
    distributions,
    prefixes,
    st.floats(1.0, 2.0),
    st.integers(2, 4),
    st.lists(st.lists(ids, min_size=2, max_size=3), min_size=1, max_size=3),
)
def test_all_of_them_in_their_order(logits, prefix, penalty, size, words) -> None:
    """As ``GenerationMixin`` builds its list: bias, repetition, n-grams, bad words, length."""
    processors = process.LogitsProcessorList(
        [
            process.SequenceBiasLogitsProcessor({(1,): -2.5}),
            process.RepetitionPenaltyLogitsProcessor(penalty),
            process.NoRepeatNGramLogitsProcessor(size),
            process.NoBadWordsLogitsProcessor(words, eos_token_id=0),
            process.MinNewTokensLengthLogitsProcessor(0, 50, [0]),
        ]
    )
    check(
        logits,
        Situation(prefix, 0, (0,)),
        processors,
        logit_bias={1: -2.5},
        repeat_penalty=penalty,
        no_repeat_ngram_size=size,
        bad_words=tuple(map(tuple, words)),
        min_new_tokens=50,
    )
