"""DRY against llama.cpp's own, where llama-cpp-python is installed."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.sampling.chains import chain_on
from tokenloop.sampling import Situation

if TYPE_CHECKING:
    from pathlib import Path

    from tokenloop.session.vocabulary import Vocabulary

llama = pytest.importorskip("llama_cpp").llama_cpp

FIELDS = np.dtype([("id", np.int32), ("logit", np.float32), ("p", np.float32)])
WINDOW = 64


def dry(vocab: Any, base: float, allowed: int, breakers: tuple[str, ...]) -> Any:
    """llama.cpp's DRY with multiplier 1; older versions ask for the context's length, too."""
    texts = (ctypes.c_char_p * max(1, len(breakers)))(*(text.encode() for text in breakers))
    init = llama.llama_sampler_init_dry
    context = (4096,) if len(init.argtypes) == 8 else ()
    return init(vocab, *context, 1.0, base, allowed, WINDOW, texts, len(breakers))


def theirs(sampler: Any, prefix: list[int], size: int) -> dict[int, float]:
    """What it subtracts after a prefix, by token."""
    data = np.zeros(size, dtype=FIELDS)
    data["id"] = np.arange(size)
    pointer = data.ctypes.data_as(llama.llama_token_data_p)
    array = llama.llama_token_data_array(pointer, size, -1, False)
    for token in prefix:
        llama.llama_sampler_accept(sampler, token)
    llama.llama_sampler_apply(sampler, ctypes.byref(array))
    llama.llama_sampler_free(sampler)
    left = ((array.data[i].id, array.data[i].logit) for i in range(array.size))
    return {token: -logit for token, logit in left if logit}


def ours(prefix: list[int], size: int, words: Vocabulary | None, **values: Any) -> dict[int, float]:
    logits = np.zeros(size, dtype=np.float32)
    situation = Situation(prefix, words=words)
    left = chain_on(logits, situation, dry_multiplier=1.0, dry_penalty_last_n=WINDOW, **values)
    return {i: -by for i, by in enumerate(left.final.logits.tolist()) if by}


@given(
    st.lists(st.integers(0, 3), max_size=100),
    st.floats(1, 4).map(lambda base: float(np.float32(base))),
    st.integers(1, 5),
)
def test_dry_without_breakers(prefix: list[int], base: float, allowed: int) -> None:
    they = theirs(dry(None, base, allowed, ()), prefix, 8)
    we = ours(prefix, 8, None, dry_base=base, dry_allowed_length=allowed, dry_sequence_breakers=())
    assert we == pytest.approx(they, rel=1e-4)


@pytest.fixture(scope="module")
def vocabularies(real_model_path: Path) -> Iterator[tuple[Any, Vocabulary]]:
    """The default model's vocabulary, as llama.cpp and as we read it."""
    from tokenloop.session.vocabulary import Vocabulary
    from tokenloop_models.checkpoint import open_checkpoint
    from tokenloop_models.tokenizer import load_tokenizer

    parameters = llama.llama_model_default_params()
    parameters.vocab_only = True
    model = llama.llama_model_load_from_file(str(real_model_path).encode(), parameters)
    tokenizer = load_tokenizer(open_checkpoint(real_model_path))
    yield llama.llama_model_get_vocab(model), Vocabulary(tokenizer)
    llama.llama_model_free(model)


@pytest.mark.real
def test_dry_with_its_usual_breakers(vocabularies: tuple[Any, Vocabulary]) -> None:
    theirs_vocab, words = vocabularies
    # Words, and all that breaks: a line's end, a colon, quotes, stars, and some within a token.
    text = 'the red rose: "the red" rose\n\n* the\n red rose ** ": the red'
    pieces = sorted({*words.encode(text), *words.encode(' ."\n'), *words.encode("::**")})
    random = np.random.default_rng(0)
    size = words.tokenizer.size
    breakers = ("\n", ":", '"', "*")
    penalised = 0
    for _ in range(40):
        few = random.choice(pieces, size=random.integers(2, 5), replace=False)
        prefix = random.choice(few, size=random.integers(1, 90)).tolist()
        they = theirs(dry(theirs_vocab, 1.75, 2, breakers), prefix, size)
        assert ours(prefix, size, words) == pytest.approx(they, rel=1e-4)
        penalised += bool(they)
    assert penalised > 5
