"""What isn't known is refused in one line that names the file and the field; nothing is guessed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import torch

from tests.tiny_model import TinySpec, weights, write_folder, write_gguf
from tokenloop_models import ModelError, load

if TYPE_CHECKING:
    from pathlib import Path

LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 64,
}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 64}
LONGROPE = {"rope_type": "longrope", "short_factor": [1.0] * 4, "long_factor": [2.0] * 4}


def refusal(path: Path) -> str:
    """The line with which a model is refused."""
    with pytest.raises(ModelError) as caught:
        load(path, device="cpu")
    line = str(caught.value)
    assert line.isprintable()
    assert line.startswith(str(path))
    return line.removeprefix(str(path))


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"model_type": "mamba"}, "config.json: model_type = 'mamba' is not known here; known: "),
        ({"hidden_act": "xielu"}, "hidden_act = 'xielu' is not known here; known: silu, swish"),
        ({"hidden_act": 3}, "hidden_act = 3 is not known"),
        ({"hidden_size": ...}, "hidden_size is missing and must be a whole number"),
        ({"hidden_size": None}, "hidden_size is missing"),
        ({"hidden_size": "32"}, "hidden_size = '32' must be a whole number"),
        ({"hidden_size": 32.0}, "hidden_size = 32.0 must be a whole number"),
        ({"hidden_size": True}, "hidden_size = true must be a whole number"),
        ({"num_hidden_layers": 0}, "num_hidden_layers = 0 must be a whole number from 1 to 10,000"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers = 1000000000 must be"),
        ({"vocab_size": -5}, "vocab_size = -5 must be"),
        ({"num_key_value_heads": 3}, "num_key_value_heads = 3 must divide the 4 query heads"),
        ({"head_dim": None, "hidden_size": 33}, "head_dim is missing and must be given: 4 heads"),
        ({"head_dim": 7}, "head_dim = 7 must be even"),
        ({"rms_norm_eps": "small"}, "rms_norm_eps = 'small' must be a number"),
        ({"rms_norm_eps": -1}, "rms_norm_eps = -1 must be a number from 0 to 1"),
        ({"rope_theta": 0}, "rope_theta = 0 must be a number from 1.01"),
        ({"rope_theta": 1, "rope_scaling": YARN}, "rope_theta = 1 must be a number from 1.01"),
        (
            {"rope_scaling": LONGROPE | {"original_max_position_embeddings": 1}},
            "rope_scaling: original_max_position_embeddings = 1 must be a whole number from 2",
        ),
        ({"rope_theta": 10**400}, "rope_theta = 1000"),
        ({"max_position_embeddings": 0}, "max_position_embeddings = 0 must be"),
        ({"tie_word_embeddings": "yes"}, "tie_word_embeddings = 'yes' must be true or false"),
        ({"attention_bias": 1}, "attention_bias = 1 must be true or false"),
        ({"rope_scaling": "linear"}, "rope_scaling = 'linear' must hold fields of its own"),
        ({"rope_scaling": {"type": "mrope"}}, "rope_scaling: type = 'mrope' is not known here"),
        ({"rope_scaling": {"rope_type": "ntk"}}, "rope_scaling: rope_type = 'ntk' is not known"),
        ({"rope_scaling": {"rope_type": "dynamic"}}, "rope_scaling: factor is missing"),
        (
            {"rope_scaling": {"type": "yarn", "factor": 4.0}},
            "rope_scaling: original_max_position_embeddings is missing",
        ),
        (
            {"rope_scaling": {"type": "longrope", "original_max_position_embeddings": 64}},
            "rope_scaling: short_factor is missing and must be a list of 4 numbers",
        ),
        ({"rope_scaling": {"type": "linear"}}, "rope_scaling: factor is missing and must be"),
        ({"rope_scaling": {"type": "linear", "factor": 0.5}}, "factor = 0.5 must be a number"),
        ({"rope_scaling": {"type": "linear", "factor": 2, "beta": 1}}, "rope_scaling: beta = 1 is"),
        (
            {"rope_scaling": {"type": "linear", "rope_type": "default", "factor": 2}},
            "type = 'linear' is not supported; only 'default' is",
        ),
        (
            {"rope_scaling": LLAMA3 | {"low_freq_factor": 4.0}},
            "low_freq_factor = 4.0 must be below",
        ),
        (
            {"rope_scaling": LLAMA3 | {"original_max_position_embeddings": ...}},
            "rope_scaling: original_max_position_embeddings is missing",
        ),
        ({"rope_scaling": LLAMA3, "rope_parameters": {"rope_type": "default"}}, "must not stand"),
        ({"rope_parameters": {"rope_theta": 5e5}}, "rope_theta = 500000.0 must be the 10000 that"),
        ({"sliding_window": 128}, "sliding_window = 128 is not supported"),
        ({"partial_rotary_factor": 0.5}, "partial_rotary_factor = 0.5 is not supported"),
        ({"attn_logit_softcapping": 50.0}, "attn_logit_softcapping = 50.0 is not supported"),
        ({"quantization_config": {"quant_method": "gptq"}}, "config.json: quantization_config"),
        ({"num_local_experts": 8}, "num_local_experts = 8 is not supported"),
        ({"rope_interleaved": True}, "rope_interleaved = true is not supported; only false is"),
        ({"architectures": ["LlamaForSequenceClassification"]}, "architectures = "),
        ({"auto_map": {"AutoModelForCausalLM": "code.Model"}}, "auto_map = "),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else None,
)
def test_a_setting_that_is_not_known_is_refused(
    tmp_path: Path, changes: dict[str, Any], line: str
) -> None:
    scaling = changes.get("rope_scaling")
    if isinstance(scaling, dict):
        kept = {name: value for name, value in scaling.items() if value is not ...}
        changes = changes | {"rope_scaling": kept}
    assert line in refusal(write_folder(TinySpec(), tmp_path / "m", changes=changes))


@pytest.mark.parametrize(
    "changes",
    [
        {"rope_scaling": {"rope_type": "default"}},
        {"rope_scaling": {}},
        {"sliding_window": None, "quantization_config": None},
        {"rope_interleaved": False, "is_llama_config": True, "attention_dropout": 0.0},
        {"pretraining_tp": 1, "use_cache": True, "initializer_range": 0.02},
        {"transformers_version": "4.42.3", "unsloth_fixed": True, "_name_or_path": "x"},
        {"use_qk_norm": False, "partial_rotary_factor": 1.0, "hidden_act": "swish"},
    ],
    ids=lambda value: "-".join(value),
)
def test_settings_that_change_nothing_are_fine(tmp_path: Path, changes: dict[str, Any]) -> None:
    model = load(write_folder(TinySpec(), tmp_path / "m", changes=changes), device="cpu")
    assert model.info.family == "llama"


@pytest.mark.parametrize(
    ("extra", "line"),
    [
        ({"llama.expert_count": 8}, "llama.expert_used_count is missing and must be"),
        ({"llama.logit_scale": 0.5}, "llama.logit_scale = 0.5 is not supported"),
        ({"llama.attention.sliding_window": 64}, "llama.attention.sliding_window = 64 is not"),
        ({"llama.rope.scaling.type": "ntk"}, "llama.rope.scaling.type = 'ntk' is not known"),
        ({"llama.rope.scaling.type": "yarn"}, "llama.rope.scaling.factor is missing and must"),
        ({"llama.rope.scaling.type": "longrope"}, "needs the tensor rope_factors_long.weight"),
        ({"llama.rope.freq_base": 1.0}, "rope.freq_base = 1.0 must be a number from 1.01"),
        ({"llama.rope.scaling.attn_factor": 1.5}, "llama.rope.scaling.attn_factor = 1.5 is not"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else None,
)
def test_gguf_metadata_that_is_not_known_is_refused(
    tmp_path: Path, extra: dict[str, float | int | str], line: str
) -> None:
    assert line in refusal(write_gguf(TinySpec(), tmp_path / "m.gguf", extra=extra))


def test_gguf_metadata_that_changes_nothing_is_fine(tmp_path: Path) -> None:
    extra: dict[str, float | int | str] = {
        "llama.expert_count": 0,
        "llama.rope.scaling.type": "none",
        "llama.rope.scaling.factor": 4.0,
        "general.finetune": "x",
    }
    assert load(write_gguf(TinySpec(), tmp_path / "m.gguf", extra=extra)).info.layers == 3


def test_gguf_rope_divisors_must_fit(tmp_path: Path) -> None:
    wrong = write_gguf(TinySpec(), tmp_path / "a.gguf", rope_factors=torch.ones(5))
    assert "'rope_freqs.weight' has shape [5]; [4] is needed" in refusal(wrong)
    zero = write_gguf(TinySpec(), tmp_path / "b.gguf", rope_factors=torch.zeros(4))
    assert "'rope_freqs.weight' must hold finite numbers above 0" in refusal(zero)


def test_a_missing_tensor_is_named(tmp_path: Path) -> None:
    tensors = weights(TinySpec())
    del tensors["model.layers.1.mlp.up_proj.weight"]
    line = refusal(write_folder(TinySpec(), tmp_path / "m", tensors=tensors))
    assert line == ": tensor 'model.layers.1.mlp.up_proj.weight' is missing"
    line = refusal(write_gguf(TinySpec(), tmp_path / "m.gguf", tensors=tensors))
    assert line == ": tensor 'blk.1.ffn_up.weight' is missing"


def test_many_missing_tensors_are_counted(tmp_path: Path) -> None:
    changes = {"num_hidden_layers": 5}
    line = refusal(write_folder(TinySpec(), tmp_path / "m", changes=changes))
    assert "'model.layers.3.input_layernorm.weight', " in line
    assert line.endswith(" and 15 more are missing")


def test_a_missing_head_is_never_made_up(tmp_path: Path) -> None:
    changes = {"tie_word_embeddings": False}
    line = refusal(write_folder(TinySpec(), tmp_path / "m", changes=changes))
    assert line == ": tensor 'lm_head.weight' is missing"


def test_a_tensor_too_many_is_named(tmp_path: Path) -> None:
    tensors = weights(TinySpec())
    tensors["model.layers.0.self_attn.q_norm.weight"] = torch.ones(8)
    line = refusal(write_folder(TinySpec(), tmp_path / "m", tensors=tensors))
    assert line == (
        ": tensor 'model.layers.0.self_attn.q_norm.weight' is there but not known to this family"
    )


def test_biases_that_the_settings_deny_are_refused(tmp_path: Path) -> None:
    tensors = weights(TinySpec(attention_bias=True))
    line = refusal(write_folder(TinySpec(), tmp_path / "m", tensors=tensors))
    assert "there but not known to this family" in line


@pytest.mark.parametrize("form", ["safetensors", "gguf"])
def test_a_misshapen_tensor_is_named_with_both_shapes(tmp_path: Path, form: str) -> None:
    tensors = weights(TinySpec())
    name = "model.layers.2.self_attn.v_proj.weight"
    tensors[name] = torch.zeros(17, 32)
    if form == "gguf":
        line = refusal(write_gguf(TinySpec(), tmp_path / "m.gguf", tensors=tensors))
        name = "blk.2.attn_v.weight"
    else:
        line = refusal(write_folder(TinySpec(), tmp_path / "m", tensors=tensors))
    assert line == f": tensor '{name}' has shape [17, 32]; its settings ask for [16, 32]"


def test_escapes_from_a_file_do_not_reach_the_terminal(tmp_path: Path) -> None:
    line = refusal(write_folder(TinySpec(), tmp_path / "m", changes={"x\x1b_scaling": 3}))
    assert "x\\x1b_scaling = 3" in line
    changes = {"hidden_act": "\x1b[2J\x9b31m"}
    assert "\\x1b[2J" in refusal(write_folder(TinySpec(), tmp_path / "n", changes=changes))
