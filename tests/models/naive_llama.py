"""Llama as the papers write it, in float64, with loops, without a cache: slow and plainly right."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

from tests.tiny_model import weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.tiny_model import TinySpec


def naive_logits(
    spec: TinySpec, ids: Sequence[int], tensors: dict[str, torch.Tensor] | None = None
) -> torch.Tensor:
    """Logits after each position, float64, (positions, vocabulary)."""
    store = {k: v.double() for k, v in (tensors or weights(spec)).items()}
    hidden = [store["model.embed_tokens.weight"][each] for each in ids]
    for index in range(spec.layers):
        layer = f"model.layers.{index}"
        normed = [_rms(x, store[f"{layer}.input_layernorm.weight"]) for x in hidden]
        mixed = _attention(spec, store, f"{layer}.self_attn", normed)
        hidden = [x + y for x, y in zip(hidden, mixed, strict=True)]
        normed = [_rms(x, store[f"{layer}.post_attention_layernorm.weight"]) for x in hidden]
        hidden = [x + _mlp(store, f"{layer}.mlp", y) for x, y in zip(hidden, normed, strict=True)]
    head = store["model.embed_tokens.weight" if spec.tied else "lm_head.weight"]
    return torch.stack([head @ _rms(x, store["model.norm.weight"]) for x in hidden])


def frequency(spec: TinySpec, pair: int) -> float:
    """By how much a pair of features turns a position, scaled as the model's settings ask for."""
    plain = spec.rope_theta ** (-2 * pair / spec.head_dim)
    scaling: dict[str, Any] = spec.rope_scaling or {}
    kind = scaling.get("rope_type", scaling.get("type", "default"))
    if kind == "linear":
        return float(plain / scaling["factor"])
    if kind == "llama3":
        wavelength = 2 * math.pi / plain
        original = scaling["original_max_position_embeddings"]
        low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
        if wavelength < original / high:
            return plain
        if wavelength > original / low:
            return float(plain / scaling["factor"])
        smooth = (original / wavelength - low) / (high - low)
        return float((1 - smooth) * plain / scaling["factor"] + smooth * plain)
    return plain


def _rms(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return x / torch.sqrt((x * x).mean() + 1e-5) * weight


def _linear(store: dict[str, torch.Tensor], name: str, x: torch.Tensor) -> torch.Tensor:
    y = store[f"{name}.weight"] @ x
    bias = store.get(f"{name}.bias")
    return y if bias is None else y + bias


def _mlp(store: dict[str, torch.Tensor], name: str, x: torch.Tensor) -> torch.Tensor:
    gate = _linear(store, f"{name}.gate_proj", x)
    inside = gate / (1 + torch.exp(-gate)) * _linear(store, f"{name}.up_proj", x)
    return _linear(store, f"{name}.down_proj", inside)


def _turned(spec: TinySpec, head: torch.Tensor, position: int) -> torch.Tensor:
    half = spec.head_dim // 2
    turned = head.clone()
    for pair in range(half):
        angle = position * frequency(spec, pair)
        a, b = head[pair], head[pair + half]
        turned[pair] = a * math.cos(angle) - b * math.sin(angle)
        turned[pair + half] = a * math.sin(angle) + b * math.cos(angle)
    return turned


def _attention(
    spec: TinySpec, store: dict[str, torch.Tensor], name: str, inputs: list[torch.Tensor]
) -> list[torch.Tensor]:
    dim, group = spec.head_dim, spec.heads // spec.kv_heads
    queries = [_linear(store, f"{name}.q_proj", x).split(dim) for x in inputs]
    keys = [_linear(store, f"{name}.k_proj", x).split(dim) for x in inputs]
    values = [_linear(store, f"{name}.v_proj", x).split(dim) for x in inputs]
    outputs = []
    for here in range(len(inputs)):
        heads = []
        for head in range(spec.heads):
            shared = head // group
            query = _turned(spec, queries[here][head], here)
            seen = [_turned(spec, keys[there][shared], there) for there in range(here + 1)]
            scores = torch.stack([query @ key / math.sqrt(dim) for key in seen])
            shares = torch.softmax(scores, dim=0)
            mixed = torch.zeros(dim, dtype=torch.float64)
            for there, share in enumerate(shares):
                mixed = mixed + share * values[there][shared]
            heads.append(mixed)
        outputs.append(_linear(store, f"{name}.o_proj", torch.cat(heads)))
    return outputs
