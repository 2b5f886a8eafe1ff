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


def longrope(dims: int) -> dict[str, Any]:
    """Positions for long texts, over so many features of a head of 8."""
    factors = {
        "short_factor": [1.0 + 0.1 * pair for pair in range(dims // 2)],
        "long_factor": [1.5 + 2.0 * pair for pair in range(dims // 2)],
    }
    return turned("longrope", partial_rotary_factor=dims / 8, **factors) | {
        "original_max_position_embeddings": 16
    }


YARN = turned("yarn", factor=4.0, original_max_position_embeddings=16)
PARTLY: dict[str, Any] = {"rope_theta": 10_000.0, "partial_rotary_factor": 0.25}
FOUR_EXPERTS: dict[str, Any] = {"num_experts": 4, "num_experts_per_tok": 2}
FOUR_SMALL: dict[str, Any] = {**FOUR_EXPERTS, "moe_intermediate_size": 24}
MULTIPLIERS: dict[str, Any] = {
    "embedding_multiplier": 3.0,
    "residual_multiplier": 0.3,
    "attention_multiplier": 0.2,
    "logits_scaling": 1.5,
}
GPT2: dict[str, Any] = {"n_ctx": 64}
GPT_NEO: dict[str, Any] = {
    "window_size": 7,
    "attention_types": [[["global", "local"], 1], [["local"], 1]],
}
OPT: dict[str, Any] = {"ffn_dim": 48}

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
            "sliding_window": 7,
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
    "gpt2": Shape("gpt2", GPT2),
    "gpt2, untied, inner size, scaled by layer": Shape(
        "gpt2",
        {**GPT2, **UNTIED, "n_inner": 40, "scale_attn_by_inverse_layer_idx": True},
        gguf=False,
    ),
    "gpt2, heads of 5": Shape("gpt2", {**GPT2, "n_embd": 15, "n_head": 3}, gguf=False),
    "gpt_neo": Shape("gpt_neo", GPT_NEO, gguf=False),
    "gpt_neox": Shape("gpt_neox", {"rope_parameters": PARTLY | {"partial_rotary_factor": 0.5}}),
    "gpt_neox, one branch after the other, no biases": Shape(
        "gpt_neox", {"use_parallel_residual": False, "attention_bias": False, **TIED}
    ),
    "opt": Shape("opt", {**OPT, "word_embed_proj_dim": 32}, gguf=False),
    "opt, 350M": Shape(
        "opt", {**OPT, "word_embed_proj_dim": 12, "do_layer_norm_before": False}, gguf=False
    ),
    "opt, no biases, no last norm": Shape(
        "opt", {**OPT, "enable_bias": False, "_remove_final_layer_norm": True}, gguf=False
    ),
    "phi": Shape("phi", {}),
    "phi, untied, quarter": Shape(
        "phi", {"rope_parameters": PARTLY, "num_attention_heads": 2}, gguf=False
    ),
    "phi3": Shape("phi3", GROUPED),
    "phi3, window, tied, three quarters": Shape(
        "phi3",
        {
            **GROUPED,
            **TIED,
            "sliding_window": 7,
            "rope_parameters": PARTLY | {"partial_rotary_factor": 0.75},
        },
    ),
    "olmo2": Shape("olmo2", GROUPED),
    "smollm3": Shape("smollm3", {**GROUPED, "num_hidden_layers": 5}),
    "smollm3, windows where positions don't turn": Shape(
        "smollm3",
        {
            **WIDE,
            **UNTIED,
            "no_rope_layers": [1, 0, 1],
            "use_sliding_window": True,
            "sliding_window": 7,
        },
        gguf=False,
    ),
    "granite": Shape("granite", {**GROUPED, **MULTIPLIERS}),
    "granite, tied, biases": Shape(
        "granite", {**GROUPED, **MULTIPLIERS, **TIED, "attention_bias": True, "mlp_bias": True}
    ),
    "starcoder2": Shape("starcoder2", GROUPED),
    "starcoder2, window, untied": Shape(
        "starcoder2", {**GROUPED, **UNTIED, "sliding_window": 7}, gguf=False
    ),
    "starcoder2, no biases": Shape("starcoder2", {**GROUPED, "use_bias": False}, gguf=False),
    "stablelm": Shape("stablelm", GROUPED),
    "stablelm, biases": Shape("stablelm", {**GROUPED, "use_qkv_bias": True}),
    "stablelm, 12B": Shape(
        "stablelm", {**GROUPED, "qk_layernorm": True, "use_parallel_residual": True}
    ),
    "qwen3_moe": Shape("qwen3_moe", {**WIDE, **FOUR_SMALL, "norm_topk_prob": True}),
    "qwen3_moe, some layers dense": Shape(
        "qwen3_moe",
        {**GROUPED, **FOUR_SMALL, "num_hidden_layers": 4, "mlp_only_layers": [1]}
        | {"decoder_sparse_step": 2},
        gguf=False,
    ),
    "olmoe": Shape("olmoe", {**GROUPED, **FOUR_EXPERTS}),
    "olmoe, shares that sum to 1": Shape(
        "olmoe", {**GROUPED, **FOUR_EXPERTS, "norm_topk_prob": True}, gguf=False
    ),
}

LONG_TEXTS: dict[str, Shape] = {
    "llama, dynamic": Shape(
        "llama",
        {**GROUPED, **turned("dynamic", factor=2.0), "max_position_embeddings": 16},
        gguf=False,
    ),
    "phi3, longrope": Shape("phi3", {**GROUPED, **longrope(dims=8)}),
    "phi3, longrope, three quarters, tied": Shape("phi3", {**GROUPED, **TIED, **longrope(dims=6)}),
}
"""Those whose positions turn in another way in texts of more than 16 positions."""
