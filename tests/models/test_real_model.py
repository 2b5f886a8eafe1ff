"""The default model against values that the reference implementation gave on the same weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tokenloop_models import load

if TYPE_CHECKING:
    from pathlib import Path

    from tokenloop_models.model import Model

pytestmark = pytest.mark.real

AUSTRALIA = [504, 3575, 282, 4617, 314]
ONCE = [6403, 1980, 253, 655]
GREEDY = [16570, 30, 198, 198, 504, 2988, 314, 42, 216, 34]
REFERENCE = {
    "The capital of Australia is": (
        AUSTRALIA,
        {
            16570: (13.4248, 0.36168),
            40136: (13.3667, 0.34126),
            260: (11.2420, 0.04077),
            40606: (11.1276, 0.03636),
            1315: (11.0561, 0.03385),
            36896: (10.1102, 0.01315),
        },
        3.5774,
    ),
    "Once upon a time": (ONCE, {28: (18.1420, 0.92727), 281: (14.0825, 0.01600)}, 0.8098),
}


@pytest.fixture(scope="module")
def model(real_model_path: Path) -> Model:
    return load(real_model_path, device="cpu", dtype="float32")


def softmax(logits: np.ndarray) -> np.ndarray:
    weight = np.exp(logits.astype(np.float64) - logits.max())
    return weight / weight.sum()


def test_it_says_what_it_is(model: Model) -> None:
    info = model.info
    assert (info.name, info.family) == ("SmolLM2-135M-Instruct", "llama")
    assert (info.device, info.dtype, info.quantisation) == ("cpu", "float32", "Q4_1")
    assert (info.layers, info.kv_heads, info.head_dim) == (30, 3, 64)
    assert (info.vocab_size, info.context_length) == (49_152, 8192)
    assert info.parameters == 134_515_008
    assert model.new_cache().bytes_per_position == 45 * 1024


@pytest.mark.parametrize("prompt", REFERENCE)
def test_logits_probabilities_and_entropy(model: Model, prompt: str) -> None:
    ids, rows, entropy_bits = REFERENCE[prompt]
    assert model.tokenizer.encode(prompt) == ids
    out = model.forward(ids, model.new_cache(), top=len(rows))
    assert out.scores is not None
    assert out.scores.top_ids[-1].tolist() == list(rows)
    probability = softmax(out.logits)
    for each, (logit, p) in rows.items():
        assert out.logits[each] == pytest.approx(logit, abs=1e-3)
        assert probability[each] == pytest.approx(p, abs=2e-4)
    assert out.scores.entropy_bits[-1] == pytest.approx(entropy_bits, abs=1e-3)
    assert -(probability * np.log2(probability)).sum() == pytest.approx(entropy_bits, abs=1e-3)


def test_greedy_continuation(model: Model) -> None:
    cache = model.new_cache()
    logits = model.forward(AUSTRALIA, cache).logits
    ids = []
    for _ in GREEDY:
        ids.append(int(logits.argmax()))
        logits = model.forward([ids[-1]], cache).logits
    assert ids == GREEDY


def test_decode_rewind_and_prefill_agree(model: Model) -> None:
    """Within the tolerance that docs/precision.md publishes for float32."""
    text = AUSTRALIA + GREEDY
    cache = model.new_cache()
    decoded = [model.forward([each], cache).logits for each in text]
    for length in (1, 5, 9, len(text)):
        fresh = model.forward(text[:length], model.new_cache()).logits
        np.testing.assert_allclose(decoded[length - 1], fresh, rtol=0, atol=1e-3)
    cache.truncate(4)
    again = model.forward([text[4]], cache).logits
    np.testing.assert_array_equal(again, decoded[4])


def test_a_prefill_of_several_chunks_agrees_with_decode(model: Model) -> None:
    ids = [(index * 7919) % 49_152 for index in range(model.chunk + 3)]
    whole = model.new_cache()
    out = model.forward(ids, whole, top=1)
    parts = model.new_cache()
    model.forward(ids[:-1], parts)
    stepped = model.forward(ids[-1:], parts).logits
    np.testing.assert_allclose(stepped, out.logits, rtol=0, atol=1e-3)
    assert out.scores is not None
    assert len(out.scores.next_rank) == len(ids) - 1
