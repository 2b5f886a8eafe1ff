"""What else real files do: other prefixes, fused tensors, pictures; and settings gone wrong."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from tests.models.families.converting import write_gguf
from tests.models.families.test_parity import IDS, assert_near, every_logit
from tests.tiny_model import write_tokenizer
from tokenloop_models import ModelError, load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.models.families.reference import Reference

    Of = Callable[[str], Reference]


def changed_tensors(folder: Path, to: Path, change: Callable[[str], str], **more: Any) -> Path:
    """A copy of a model with its tensors renamed, and some more of them."""
    shutil.copytree(folder, to)
    tensors = load_file(folder / "model.safetensors")
    renamed = {change(name): tensor for name, tensor in tensors.items()}
    renamed |= {name.replace("_", "."): tensor for name, tensor in more.items()}
    save_file(renamed, to / "model.safetensors")
    return to


def changed_settings(folder: Path, to: Path, changes: dict[str, Any]) -> Path:
    """A copy of a model with other settings."""
    shutil.copytree(folder, to)
    config = json.loads((to / "config.json").read_text(encoding="utf-8"))
    (to / "config.json").write_text(json.dumps(config | changes), encoding="utf-8")
    return to


def test_gpt_2_s_first_files_have_no_prefix_and_a_buffer(reference: Of, tmp_path: Path) -> None:
    made = reference("gpt2")
    folder = changed_tensors(
        made.folder,
        tmp_path / "first",
        lambda name: name.removeprefix("transformer."),
        h_0_attn_bias=torch.ones(1, 1, 64, 64),
    )
    assert_near(every_logit(load(folder, device="cpu"), IDS), made.logits(IDS))


def test_older_opt_files_have_a_shorter_prefix(reference: Of, tmp_path: Path) -> None:
    made = reference("opt")
    folder = changed_tensors(
        made.folder, tmp_path / "older", lambda name: name.removeprefix("model.")
    )
    assert_near(every_logit(load(folder, device="cpu"), IDS), made.logits(IDS))


@pytest.mark.parametrize("name", ["phi", "qwen2", "llama", "llama, biases", "stablelm, 12B"])
def test_a_gguf_may_hold_queries_keys_and_values_as_one(
    reference: Of, name: str, tmp_path: Path
) -> None:
    made = reference(name)
    path = write_gguf(made.folder, tmp_path / "model.gguf", fused=True)
    assert_near(every_logit(load(path, device="cpu"), IDS), made.logits(IDS))


def test_the_part_of_gemma_3_that_reads_and_writes_text(tmp_path: Path) -> None:
    """Its folder holds a model of pictures too, and names begin otherwise."""
    transformers = pytest.importorskip("transformers")
    from tests.models.families.reference import Reference, randomise
    from tests.models.families.shapes import SHAPES, WIDE

    text = {"vocab_size": 299, "hidden_size": 32, "intermediate_size": 48, **WIDE}
    text |= {"num_attention_heads": 4, "max_position_embeddings": 64}
    sizes = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1}
    pictures = {**sizes, "num_attention_heads": 2, "image_size": 8, "patch_size": 4}
    config = transformers.Gemma3Config(
        text_config=text | SHAPES["gemma3"].changes, vision_config=pictures, mm_tokens_per_image=4
    )
    config._attn_implementation = "eager"
    model = transformers.Gemma3ForConditionalGeneration(config)
    randomise(model)
    folder = tmp_path / "both"
    model.eval().save_pretrained(folder)
    write_tokenizer(folder)
    expected = Reference(model, folder).logits(IDS)
    loaded = load(folder, device="cpu")
    assert loaded.info.family == "gemma3"
    assert_near(every_logit(loaded, IDS), expected)
    newer = changed_tensors(
        folder,
        tmp_path / "newer",
        lambda name: name.replace("language_model.model.", "model.language_model."),
    )
    assert_near(every_logit(load(newer, device="cpu"), IDS), expected)
    assert_near(every_logit(load(write_gguf(folder, tmp_path / "m.gguf")), IDS), expected)


@pytest.mark.parametrize(
    ("name", "changes", "line"),
    [
        ("gpt2", {"scale_attn_weights": False}, "scale_attn_weights = false is not supported"),
        ("gpt2", {"n_head": 5}, "n_head = 5 must divide the 32 features"),
        ("gpt2", {"add_cross_attention": True}, "add_cross_attention = true is not supported"),
        ("gpt2", {"activation_function": "mish"}, "activation_function = 'mish' is not known here"),
        (
            "gpt_neo",
            {"attention_layers": ["global"]},
            "must be a list of 3, each global or local",
        ),
        (
            "gpt_neo",
            {"attention_layers": None, "attention_types": [["global", 3]]},
            "must be [[pattern, repeats], …] for 3 layers, each global or local",
        ),
        ("gpt_neox", {"attention_bias": "yes"}, "attention_bias = 'yes' must be true or false"),
        ("opt", {"layer_norm_elementwise_affine": False}, "layer_norm_elementwise_affine = false"),
        ("phi", {"qk_layernorm": True}, "qk_layernorm = true is not supported"),
        ("phi", {"rope_parameters": {"partial_rotary_factor": 0.4}}, "an even number of the 8"),
        ("phi3", {"full_attn_mod": 2}, "full_attn_mod = 2 is not supported; only 1 is"),
        (
            "phi3, longrope",
            {"rope_parameters": {"rope_type": "longrope", "long_factor": [1], "short_factor": [1]}},
            "rope_parameters: short_factor",
        ),
        ("mistral, window", {"layer_types": ["full"] * 3}, "each full_attention or sliding_att"),
        (
            "mistral, no window",
            {"layer_types": ["sliding_attention"] * 3},
            "sliding_window is missing and must be given: layer_types has sliding layers",
        ),
        (
            "gemma",
            {"use_bidirectional_attention": True},
            "use_bidirectional_attention = true is not",
        ),
        ("gemma2", {"query_pre_attn_scalar": 0}, "query_pre_attn_scalar = 0 must be a number from"),
        ("gemma2", {"sliding_window_size": 8}, "sliding_window_size = 8 is not supported; only 7"),
        (
            "gemma3",
            {"rope_parameters": {"full_attention": {"rope_type": "su_per"}}},
            "rope_parameters: full_attention: rope_type = 'su_per' is not known here",
        ),
        ("starcoder2", {"norm_type": "rms"}, "norm_type = 'rms' is not supported"),
        ("olmoe", {"clip_qkv": 8.0}, "clip_qkv = 8.0 is not supported; only null is"),
        (
            "olmoe",
            {"num_experts_per_tok": 5},
            "num_experts_per_tok = 5 must be a whole number from 1",
        ),
        ("qwen3_moe", {"mlp_only_layers": ["1"]}, "mlp_only_layers = "),
        (
            "qwen3_moe",
            {"shared_expert_intermediate_size": 8},
            "shared_expert_intermediate_size = 8",
        ),
        ("granite", {"logits_scaling": 0}, "logits_scaling = 0 must be a number from 1e-06"),
        ("smollm3", {"no_rope_layers": [1]}, "no_rope_layers = "),
        ("qwen3", {"layer_types": ["sliding_attention"] * 3}, "each full_attention"),
        ("qwen3", {"architectures": ["Qwen3ForTokenClassification"]}, "architectures = "),
    ],
)
def test_settings_that_would_change_a_family_are_refused(
    reference: Of, name: str, changes: dict[str, Any], line: str, tmp_path: Path
) -> None:
    folder = changed_settings(reference(name).folder, tmp_path / "changed", changes)
    with pytest.raises(ModelError) as caught:
        load(folder, device="cpu")
    text = str(caught.value)
    assert text.isprintable()
    assert text.startswith(f"{folder}/config.json: ")
    assert line in text


@pytest.mark.parametrize(
    ("name", "extra", "line"),
    [
        (
            "gemma2",
            {"attention.sliding_window_pattern": [True]},
            "must be a number, or a list of 3",
        ),
        ("phi3", {"rope.scaling.attn_factor": 1.5}, "phi3.rope.scaling.attn_factor = 1.5 is not"),
        ("qwen2", {"rope.scaling.type": "longrope"}, "needs the tensor rope_factors_long.weight"),
        ("qwen2", {"attention.sliding_window": 7}, "qwen2.attention.sliding_window = 7 is"),
        ("qwen3_moe", {"attention.sliding_window": 7}, "attention.sliding_window = 7 is not"),
        ("smollm3", {"attention.sliding_window": 7}, "attention.sliding_window = 7 is not"),
        (
            "olmo2",
            {"attention.sliding_window": 7},
            "olmo2.attention.sliding_window = 7 is not supp",
        ),
        ("olmoe", {"attention.clamp_kqv": 8.0}, "olmoe.attention.clamp_kqv = 8.0 is not supported"),
        (
            "qwen3_moe",
            {"expert_gating_func": 2},
            "qwen3moe.expert_gating_func = 2 is not supported",
        ),
    ],
)
def test_metadata_that_would_change_a_family_is_refused(
    reference: Of, name: str, extra: dict[str, Any], line: str, tmp_path: Path
) -> None:
    path = write_gguf(reference(name).folder, tmp_path / "model.gguf", extra)
    with pytest.raises(ModelError) as caught:
        load(path, device="cpu")
    assert line in str(caught.value)
