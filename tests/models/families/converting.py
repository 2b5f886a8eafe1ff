"""A folder of safetensors written as GGUF, by the conventions of the published converter.

Written down from llama.cpp's ``conversion`` once more: names come from gguf's own tables, and what
it permutes, splits, stacks and adds is done here in its own words, so that a family's file is not
compared with itself.
"""

from __future__ import annotations

import json
import math
import re
from typing import TYPE_CHECKING, Any

import gguf
import torch
from safetensors.torch import load_file

from tests.tiny_model import TinySpec, interleave, write_vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Config = dict[str, Any]
Tensors = dict[str, torch.Tensor]

ARCHITECTURES = {
    "gemma": gguf.MODEL_ARCH.GEMMA,
    "gemma2": gguf.MODEL_ARCH.GEMMA2,
    "gemma3": gguf.MODEL_ARCH.GEMMA3,
    "gemma3_text": gguf.MODEL_ARCH.GEMMA3,
    "gpt2": gguf.MODEL_ARCH.GPT2,
    "gpt_neox": gguf.MODEL_ARCH.GPTNEOX,
    "granite": gguf.MODEL_ARCH.GRANITE,
    "llama": gguf.MODEL_ARCH.LLAMA,
    "mistral": gguf.MODEL_ARCH.LLAMA,
    "mixtral": gguf.MODEL_ARCH.LLAMA,
    "olmo2": gguf.MODEL_ARCH.OLMO2,
    "olmoe": gguf.MODEL_ARCH.OLMOE,
    "phi": gguf.MODEL_ARCH.PHI2,
    "phi3": gguf.MODEL_ARCH.PHI3,
    "qwen2": gguf.MODEL_ARCH.QWEN2,
    "qwen3": gguf.MODEL_ARCH.QWEN3,
    "qwen3_moe": gguf.MODEL_ARCH.QWEN3MOE,
    "smollm3": gguf.MODEL_ARCH.SMOLLM3,
    "stablelm": gguf.MODEL_ARCH.STABLELM,
    "starcoder2": gguf.MODEL_ARCH.STARCODER2,
}
PERMUTED = ("llama", "mistral", "mixtral", "smollm3", "granite")
SHIFTED = ("gemma", "gemma2", "gemma3", "gemma3_text")
SPELLINGS: dict[str, tuple[str, ...]] = {
    "hidden": ("n_embd", "hidden_size"),
    "layers": ("n_layer", "num_hidden_layers"),
    "heads": ("n_head", "num_attention_heads"),
    "context": ("n_positions", "max_position_embeddings"),
    "inside": ("n_inner", "intermediate_size"),
}


def write_gguf(
    folder: Path, path: Path, extra: Config | None = None, *, fused: bool = False
) -> Path:
    """Convert a folder.

    Args:
        folder: safetensors and config.json.
        path: the GGUF.
        extra: further metadata, by name without the architecture.
        fused: write queries, keys and values as one tensor, as some converters do.
    """
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    config = config.get("text_config", config)
    architecture = ARCHITECTURES[config["model_type"]]
    writer = gguf.GGUFWriter(path, gguf.MODEL_ARCH_NAMES[architecture])
    writer.add_name("Tiny")
    _write_settings(writer, config)
    for name, value in (extra or {}).items():
        key = f"{gguf.MODEL_ARCH_NAMES[architecture]}.{name}"
        if isinstance(value, list):
            writer.add_array(key, value)
        else:
            adders = {bool: writer.add_bool, int: writer.add_uint32, float: writer.add_float32}
            adders.get(type(value), writer.add_string)(key, value)
    write_vocabulary(writer, TinySpec())
    names = gguf.get_tensor_name_map(architecture, find(config, "layers"))
    tensors: Tensors = {}
    for name, tensor in _converted(config, load_file(folder / "model.safetensors")):
        theirs = names.get_name(name, try_suffixes=(".weight", ".bias"))
        assert theirs is not None, name
        tensors[theirs] = tensor
    for name, tensor in (_fused(tensors) if fused else tensors).items():
        writer.add_tensor(name, tensor.contiguous().numpy())
    for name, tensor in _rope_tensors(config):
        writer.add_tensor(name, tensor.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path


def find(config: Config, what: str) -> Any:
    """A setting by any of its spellings."""
    return next((config[name] for name in SPELLINGS[what] if name in config), None)


def rope(config: Config) -> Config:
    """The rotary settings of the layers that see everything."""
    parameters = config.get("rope_parameters") or {}
    return parameters.get("full_attention", parameters)


def _write_settings(writer: gguf.GGUFWriter, config: Config) -> None:
    kind = config["model_type"]
    hidden, heads = find(config, "hidden"), find(config, "heads")
    writer.add_block_count(find(config, "layers"))
    writer.add_context_length(find(config, "context"))
    writer.add_embedding_length(hidden)
    writer.add_feed_forward_length(find(config, "inside") or 4 * hidden)
    writer.add_head_count(heads)
    writer.add_file_type(0)
    if "num_key_value_heads" in config:
        writer.add_head_count_kv(config["num_key_value_heads"])
    if config.get("head_dim") is not None and kind != "granite":
        writer.add_key_length(config["head_dim"])
        writer.add_value_length(config["head_dim"])
    for name in ("layer_norm_eps", "layer_norm_epsilon", "norm_epsilon"):
        if name in config:
            writer.add_layer_norm_eps(config[name])
    if "rms_norm_eps" in config:
        writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    if kind in PERMUTED:
        writer.add_vocab_size(config["vocab_size"])
    _write_rope(writer, config, hidden // heads)
    _write_special(writer, config)


def _write_rope(writer: gguf.GGUFWriter, config: Config, head_dim: int) -> None:
    kind, parameters = config["model_type"], rope(config)
    part = parameters.get("partial_rotary_factor")
    if kind in PERMUTED:
        writer.add_rope_dimension_count(config.get("head_dim") or head_dim)
    elif part is not None:
        writer.add_rope_dimension_count(int(part * head_dim))
    if "rope_theta" in parameters and kind not in ("gpt_neox", "stablelm", "phi"):
        writer.add_rope_freq_base(parameters["rope_theta"])
    local = (config.get("rope_parameters") or {}).get("sliding_attention")
    if local is not None:
        writer.add_rope_freq_base_swa(local["rope_theta"])
    scaling = parameters.get("rope_type")
    if scaling == "linear":
        writer.add_rope_scaling_type(gguf.RopeScalingType.LINEAR)
        writer.add_rope_scaling_factor(parameters["factor"])
    elif scaling == "yarn":
        writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        writer.add_rope_scaling_factor(parameters["factor"])
        writer.add_rope_scaling_orig_ctx_len(parameters["original_max_position_embeddings"])
    elif kind == "phi3":
        original = config["original_max_position_embeddings"]
        writer.add_rope_scaling_orig_ctx_len(original)
        if scaling == "longrope":
            scale = math.log(config["max_position_embeddings"] / original) / math.log(original)
            writer.add_rope_scaling_attn_factors(math.sqrt(1 + scale))


def _write_special(writer: gguf.GGUFWriter, config: Config) -> None:
    kind = config["model_type"]
    if kind in ("gemma2", "phi3") or (kind.startswith("gemma3") and config["sliding_window"]):
        writer.add_sliding_window(config["sliding_window"] or 0)
    if config.get("attn_logit_softcapping"):
        writer.add_attn_logit_softcapping(config["attn_logit_softcapping"])
    if config.get("final_logit_softcapping"):
        writer.add_final_logit_softcapping(config["final_logit_softcapping"])
    if "use_parallel_residual" in config:
        writer.add_parallel_residual(config["use_parallel_residual"])
    if kind == "granite":
        writer.add_attention_scale(config["attention_multiplier"])
        writer.add_embedding_scale(config["embedding_multiplier"])
        writer.add_residual_scale(config["residual_multiplier"])
        writer.add_logit_scale(config["logits_scaling"])
    count = config.get("num_local_experts", config.get("num_experts"))
    if count is not None:
        writer.add_expert_count(count)
        writer.add_expert_used_count(config["num_experts_per_tok"])
    if "moe_intermediate_size" in config:
        writer.add_expert_feed_forward_length(config["moe_intermediate_size"])


def _converted(config: Config, tensors: Tensors) -> Iterator[tuple[str, torch.Tensor]]:
    kind, heads = config["model_type"], find(config, "heads")
    stacks: dict[str, dict[int, torch.Tensor]] = {}
    for stored, tensor in tensors.items():
        if stored.startswith(("vision_tower.", "multi_modal_projector.")):
            continue
        name = stored.replace("language_model.model.", "model.")
        if kind in PERMUTED and (match := re.search(r"([qk])_proj\.(weight|bias)$", name)):
            groups = heads if match[1] == "q" else config["num_key_value_heads"]
            tensor = interleave(tensor, groups)
        if kind in SHIFTED and name.endswith("norm.weight"):
            tensor = tensor + 1
        if kind == "gpt2" and name.endswith(("c_attn.weight", "c_proj.weight", "c_fc.weight")):
            tensor = tensor.T
        if kind == "gpt_neox" and ".query_key_value." in name:
            by_head = tensor.view(heads, 3, -1, *tensor.shape[1:])
            tensor = torch.cat([by_head[:, each].flatten(0, 1) for each in range(3)])
        stacked = re.fullmatch(r"(.*\.(?:experts|norms))\.(\d+)(?:\.(\w+))?\.weight", name)
        if stacked is None:
            yield name, tensor
            continue
        whole = ".".join(part for part in (stacked[1], stacked[3], "weight") if part)
        stacks.setdefault(whole, {})[int(stacked[2])] = tensor
    for name, members in stacks.items():
        whole = name.replace(".norms.", ".").replace(
            "block_sparse_moe.experts", "feed_forward.experts"
        )
        whole = whole.replace("model.layers", "layers") if "feed_forward" in whole else whole
        yield whole, torch.stack([members[index] for index in range(len(members))])


def _fused(tensors: Tensors) -> Tensors:
    joined: Tensors = {}
    for name, tensor in tensors.items():
        match = re.fullmatch(r"(blk\.\d+)\.attn_([qkv])(\.weight|\.bias)", name)
        if match is None:
            joined[name] = tensor
        elif match[2] == "q":
            parts = [tensors[f"{match[1]}.attn_{each}{match[3]}"] for each in "qkv"]
            joined[f"{match[1]}.attn_qkv{match[3]}"] = torch.cat(parts)
    return joined


def _rope_tensors(config: Config) -> Iterator[tuple[str, torch.Tensor]]:
    parameters = rope(config)
    if parameters.get("rope_type") == "longrope":
        for which in ("long", "short"):
            yield f"rope_factors_{which}.weight", torch.tensor(parameters[f"{which}_factor"])
    if parameters.get("rope_type") == "llama3":
        dim = config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]
        yield "rope_freqs.weight", torch.tensor(list(_llama3_divisors(parameters, dim)))


def _llama3_divisors(parameters: Config, dim: int) -> Iterator[float]:
    low, high = parameters["low_freq_factor"], parameters["high_freq_factor"]
    original, factor = parameters["original_max_position_embeddings"], parameters["factor"]
    for pair in range(dim // 2):
        wavelength = 2 * math.pi * parameters["rope_theta"] ** (2 * pair / dim)
        if wavelength < original / high:
            yield 1.0
        elif wavelength > original / low:
            yield factor
        else:
            smooth = (original / wavelength - low) / (high - low)
            yield 1 / ((1 - smooth) / factor + smooth)
