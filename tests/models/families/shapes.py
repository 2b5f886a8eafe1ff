"""The shapes in which each family is held against the reference implementation."""

from __future__ import annotations

from typing import Any

from tests.models.families.reference import Shape

GROUPED: dict[str, Any] = {"num_key_value_heads": 2}
WIDE: dict[str, Any] = {"num_key_value_heads": 2, "head_dim": 12}  # heads × dim ≠ hidden
UNTIED: dict[str, Any] = {"tie_word_embeddings": False}
TIED: dict[str, Any] = {"tie_word_embeddings": True}


def turned(kind: str, **fields: Any) -> dict[str, Any]:
    """Rotary settings of a type."""
    return {"rope_parameters": {"rope_type": kind, "rope_theta": 10_000.0, **fields}}


LINEAR = turned("linear", factor=4.0)
LLAMA3 = turned(
    "llama3",
    factor=8.0,
    low_freq_factor=1.0,
    high_freq_factor=4.0,
    original_max_position_embeddings=16,
)
YARN = turned("yarn", factor=4.0, original_max_position_embeddings=16)
FOUR_EXPERTS: dict[str, Any] = {"num_experts": 4, "num_experts_per_tok": 2}

SHAPES: dict[str, Shape] = {
    "llama": Shape("llama", WIDE),
    "llama, untied, one shared head": Shape("llama", {"num_key_value_heads": 1, **UNTIED}),
    "llama, biases": Shape("llama", {**GROUPED, "attention_bias": True, "mlp_bias": True}),
    "llama, linear": Shape("llama", {**GROUPED, **LINEAR}),
    "llama, llama3": Shape("llama", {**GROUPED, **LLAMA3}),
    "llama, yarn": Shape("llama", {**GROUPED, **YARN}),
    "mistral, window": Shape("mistral", {**WIDE, "sliding_window": 7}, gguf=False),
    "mistral, no window": Shape("mistral", {**GROUPED, "sliding_window": None, **TIED}),
    "mixtral": Shape("mixtral", {**WIDE, "num_local_experts": 4, "num_experts_per_tok": 2}),
    "mixtral, window, three of five": Shape(
        "mixtral",
        {**GROUPED, "num_local_experts": 5, "num_experts_per_tok": 3, "sliding_window": 7},
        gguf=False,
    ),
    "qwen2": Shape("qwen2", GROUPED),
    "qwen2, tied, yarn": Shape("qwen2", {**GROUPED, **TIED, **YARN}),
    "qwen2, window in the upper layers": Shape(
        "qwen2",
        {**GROUPED, "use_sliding_window": True, "sliding_window": 7, "max_window_layers": 1},
        gguf=False,
    ),
    "qwen3": Shape("qwen3", WIDE),
    "qwen3, tied, biases, yarn": Shape(
        "qwen3", {**GROUPED, **TIED, **YARN, "head_dim": 8, "attention_bias": True}
    ),
    "gemma": Shape("gemma", WIDE),
    "gemma, one shared head": Shape("gemma", {"num_key_value_heads": 1, "head_dim": 8}),
    "gemma2": Shape("gemma2", {**WIDE, "sliding_window": 7, "query_pre_attn_scalar": 12}),
    "gemma2, another scale, small caps": Shape(
        "gemma2",
        {
            **WIDE,
            "sliding_window": 7,
            "query_pre_attn_scalar": 7,
            "attn_logit_softcapping": 3.0,
            "final_logit_softcapping": 5.0,
        },
        gguf=False,
    ),
    "gemma2, no caps": Shape(
        "gemma2",
        {
            **WIDE,
            "sliding_window": 200,
            "query_pre_attn_scalar": 12,
            "attn_logit_softcapping": None,
            "final_logit_softcapping": None,
        },
        gguf=False,
    ),
    "gemma3": Shape(
        "gemma3_text",
        {**WIDE, "num_hidden_layers": 7, "sliding_window": 7, "query_pre_attn_scalar": 12},
    ),
    "gemma3, linear, every other layer": Shape(
        "gemma3_text",
        {
            **WIDE,
            "sliding_window": 7,
            "query_pre_attn_scalar": 12,
            "layer_types": ["sliding_attention", "full_attention", "sliding_attention"],
            "rope_parameters": {
                "full_attention": {"rope_type": "linear", "factor": 8.0, "rope_theta": 1e6},
                "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
            },
        },
        extra={"attention.sliding_window_pattern": [True, False, True]},
    ),
}

LONG_TEXTS: dict[str, Shape] = {
    "llama, dynamic": Shape(
        "llama",
        {**GROUPED, **turned("dynamic", factor=2.0), "max_position_embeddings": 16},
        gguf=False,
    ),
}
"""Those whose positions turn in another way in texts of more than 16 positions."""
