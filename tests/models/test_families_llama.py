"""Llama in all its variants against formulas written down again, and GGUF against safetensors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from tests.models.naive_llama import frequency, naive_logits
from tests.tiny_model import TinySpec, weights, write_folder, write_gguf
from tokenloop_models import load

if TYPE_CHECKING:
    from pathlib import Path

LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
VARIANTS = {
    "grouped-query": TinySpec(),
    "one head a head": TinySpec(kv_heads=4),
    "one shared head": TinySpec(kv_heads=1),
    "heads wider than hidden": TinySpec(head_dim=12),
    "untied": TinySpec(tied=False),
    "attention biases": TinySpec(attention_bias=True),
    "mlp biases": TinySpec(mlp_bias=True),
    "linear rope": TinySpec(rope_scaling={"type": "linear", "factor": 4.0}),
    "llama3 rope": TinySpec(rope_scaling=LLAMA3, head_dim=16),
    "padded vocabulary": TinySpec(vocab_size=320),
    "odd sizes": TinySpec(hidden=36, head_dim=10, intermediate=45, vocab_size=301, tied=False),
}
IDS = [5, 77, 140, 9, 9, 280, 33, 61, 298, 0, 12, 100]


def all_logits(path: Path, ids: list[int]) -> np.ndarray:
    """Logits after every position, by decoding one by one."""
    model = load(path, device="cpu", dtype="float32")
    cache = model.new_cache()
    return np.stack([model.forward([each], cache).logits for each in ids])


def gguf_form(spec: TinySpec, path: Path) -> Path:
    """Write a spec as a converter would: linear scaling as metadata, llama3 as divisors."""
    scaling = spec.rope_scaling or {}
    if "llama3" in scaling.values():
        pairs = range(spec.head_dim // 2)
        plain = [spec.rope_theta ** (-2 * pair / spec.head_dim) for pair in pairs]
        factors = [plain[pair] / frequency(spec, pair) for pair in pairs]
        return write_gguf(spec, path, rope_factors=torch.tensor(factors))
    extra: dict[str, float | int | str] = {}
    if scaling:
        extra = {"llama.rope.scaling.type": "linear", "llama.rope.scaling.factor": 4.0}
    return write_gguf(spec, path, extra=extra)


@pytest.mark.parametrize("variant", VARIANTS)
def test_logits_equal_the_formulas(variant: str, tmp_path: Path) -> None:
    spec = VARIANTS[variant]
    expected = naive_logits(spec, IDS).numpy()
    logits = all_logits(write_folder(spec, tmp_path / "m"), IDS)
    np.testing.assert_allclose(logits, expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("variant", VARIANTS)
def test_gguf_equals_safetensors(variant: str, tmp_path: Path) -> None:
    spec = VARIANTS[variant]
    folder = all_logits(write_folder(spec, tmp_path / "m"), IDS)
    gguf = all_logits(gguf_form(spec, tmp_path / "m.gguf"), IDS)
    np.testing.assert_allclose(gguf, folder, rtol=0, atol=1e-4)


def test_the_variants_differ() -> None:
    """Were scaling or biases lost on both sides, the comparisons above would still agree."""
    plain = naive_logits(TinySpec(), IDS)
    for name in ("linear rope", "attention biases", "mlp biases"):
        assert (naive_logits(VARIANTS[name], IDS) - plain).abs().max() > 0.1
    scaled = naive_logits(VARIANTS["llama3 rope"], IDS)
    assert (scaled - naive_logits(TinySpec(head_dim=16), IDS)).abs().max() > 0.1


def test_llama3_scaling_keeps_blends_and_stretches() -> None:
    spec = VARIANTS["llama3 rope"]
    plain = [spec.rope_theta ** (-2 * pair / spec.head_dim) for pair in range(8)]
    ratios = [frequency(spec, pair) / plain[pair] for pair in range(8)]
    assert ratios[0] == 1.0
    assert ratios[-1] == pytest.approx(1 / 8)
    assert any(1 / 8 < ratio < 1 for ratio in ratios)


def test_newer_settings_mean_the_same(tmp_path: Path) -> None:
    spec = VARIANTS["llama3 rope"]
    newer = {
        "rope_theta": ...,
        "rope_scaling": ...,
        "rope_parameters": {**LLAMA3, "rope_theta": spec.rope_theta},
    }
    old = all_logits(write_folder(spec, tmp_path / "old"), IDS)
    new = all_logits(write_folder(spec, tmp_path / "new", changes=newer), IDS)
    np.testing.assert_array_equal(new, old)


def test_settings_that_may_be_absent_take_the_reference_s_defaults(tmp_path: Path) -> None:
    spec = TinySpec(kv_heads=4, tied=False)
    absent = ("num_key_value_heads", "head_dim", "rope_theta", "rope_scaling", "hidden_act")
    absent += ("attention_bias", "mlp_bias", "tie_word_embeddings")
    full = all_logits(write_folder(spec, tmp_path / "full"), IDS)
    bare = write_folder(spec, tmp_path / "bare", changes=dict.fromkeys(absent, ...))
    np.testing.assert_array_equal(all_logits(bare, IDS), full)


def test_a_rotary_buffer_in_the_file_is_no_weight(tmp_path: Path) -> None:
    tensors = weights(TinySpec())
    expected = all_logits(write_folder(TinySpec(), tmp_path / "without"), IDS)
    tensors["model.layers.0.self_attn.rotary_emb.inv_freq"] = torch.ones(4)
    folder = write_folder(TinySpec(), tmp_path / "with", tensors=tensors)
    np.testing.assert_array_equal(all_logits(folder, IDS), expected)


def test_a_tied_head_that_is_stored_too_must_be_the_embedding(tmp_path: Path) -> None:
    from tokenloop_models.errors import ModelError

    tensors = weights(TinySpec())
    tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"].clone()
    same = write_folder(TinySpec(), tmp_path / "same", tensors=tensors)
    assert all_logits(same, IDS[:2]).shape == (2, 299)
    tensors["lm_head.weight"][7, 7] += 1
    other = write_folder(TinySpec(), tmp_path / "other", tensors=tensors)
    with pytest.raises(ModelError, match=r"'lm_head.weight' differs from 'model.embed_tokens"):
        load(other)


def test_logits_equal_transformers(tmp_path: Path) -> None:
    """The reference implementation itself, where it is installed."""
    transformers = pytest.importorskip("transformers")
    for name, spec in VARIANTS.items():
        folder = write_folder(spec, tmp_path / name.replace(" ", "-"))
        reference = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype="float32")
        with torch.no_grad():
            expected = reference(torch.tensor([IDS])).logits[0].numpy()
        np.testing.assert_allclose(all_logits(folder, IDS), expected, rtol=0, atol=1e-4)
