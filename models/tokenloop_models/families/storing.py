"""How the two formats store most families: the names of settings and weights, and their quirks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tokenloop_models.families.family import Stored

if TYPE_CHECKING:
    from collections.abc import Mapping

LLAMA_NAMES = {
    "embedding": "model.embed_tokens",
    "attention_norm": "model.layers.{}.input_layernorm",
    "q": "model.layers.{}.self_attn.q_proj",
    "k": "model.layers.{}.self_attn.k_proj",
    "v": "model.layers.{}.self_attn.v_proj",
    "o": "model.layers.{}.self_attn.o_proj",
    "q_norm": "model.layers.{}.self_attn.q_norm",
    "k_norm": "model.layers.{}.self_attn.k_norm",
    "mlp_norm": "model.layers.{}.post_attention_layernorm",
    "gate": "model.layers.{}.mlp.gate_proj",
    "up": "model.layers.{}.mlp.up_proj",
    "down": "model.layers.{}.mlp.down_proj",
    "norm": "model.norm",
    "head": "lm_head",
}
"""Names in a safetensors file, as Llama's first port to the reference implementation chose them."""

EXPERT_NAMES = {
    "router": "model.layers.{}.mlp.gate",
    "expert_gate": "model.layers.{}.mlp.experts.{}.gate_proj",
    "expert_up": "model.layers.{}.mlp.experts.{}.up_proj",
    "expert_down": "model.layers.{}.mlp.experts.{}.down_proj",
}

GGUF_NAMES = {
    "embedding": "token_embd",
    "positions": "position_embd",
    "attention_norm": "blk.{}.attn_norm",
    "q": "blk.{}.attn_q",
    "k": "blk.{}.attn_k",
    "v": "blk.{}.attn_v",
    "q k v": "blk.{}.attn_qkv",
    "o": "blk.{}.attn_output",
    "q_norm": "blk.{}.attn_q_norm",
    "k_norm": "blk.{}.attn_k_norm",
    "attention_post_norm": "blk.{}.post_attention_norm",
    "mlp_norm": "blk.{}.ffn_norm",
    "mlp_post_norm": "blk.{}.post_ffw_norm",
    "gate": "blk.{}.ffn_gate",
    "up": "blk.{}.ffn_up",
    "down": "blk.{}.ffn_down",
    "router": "blk.{}.ffn_gate_inp",
    "expert_gate": "blk.{}.ffn_gate_exps",
    "expert_up": "blk.{}.ffn_up_exps",
    "expert_down": "blk.{}.ffn_down_exps",
    "norm": "output_norm",
    "head": "output",
}
"""Names in a GGUF: one set for all architectures."""

GGUF_SPELLING = {
    "hidden_size": "embedding_length",
    "num_hidden_layers": "block_count",
    "num_attention_heads": "attention.head_count",
    "num_key_value_heads": "attention.head_count_kv",
    "head_dim": "attention.key_length",
    "intermediate_size": "feed_forward_length",
    "max_position_embeddings": "context_length",
    "rms_norm_eps": "attention.layer_norm_rms_epsilon",
    "layer_norm_eps": "attention.layer_norm_epsilon",
    "sliding_window": "attention.sliding_window",
    "embedding_multiplier": "embedding_scale",
    "residual_multiplier": "residual_scale",
    "attention_multiplier": "attention.scale",
    "logits_scaling": "logit_scale",
    "num_experts": "expert_count",
    "num_experts_per_tok": "expert_used_count",
    "moe_intermediate_size": "expert_feed_forward_length",
}
"""What a GGUF calls the settings that most ``config.json`` call by the names on the left."""

DEFAULTS = {"hidden_act": "silu", "rope_theta": 10_000.0, "tie_word_embeddings": False}
ROTARY_BUFFERS = (r"model\.(layers\.\d+\.self_attn\.)?rotary_emb\.inv_freq",)
ROTARY_FACTORS = (
    r"rope_freqs\.weight",
    r"rope_factors_(long|short)\.weight",
    r"blk\.\d+\.attn_rot_embd(\.weight)?",
)


def safetensors(defaults: Mapping[str, object], **special: Any) -> Stored:
    """How a family's safetensors are stored: as a Llama's, but for what is special.

    Args:
        defaults: what the reference implementation takes where a ``config.json`` is silent.
        special: attributes of ``Stored``.
    """
    special = {"names": LLAMA_NAMES, "ignored": ROTARY_BUFFERS} | special
    return Stored(defaults={**DEFAULTS, **defaults}, **special)


def gguf(defaults: Mapping[str, object] | None = None, **special: Any) -> Stored:
    """How a family's GGUF is stored: as most are, but for what is special.

    Args:
        defaults: what such a file never says.
        special: attributes of ``Stored``.
    """
    special = {"names": GGUF_NAMES, "ignored": ROTARY_FACTORS, "spelling": GGUF_SPELLING} | special
    return Stored(defaults={**DEFAULTS, **(defaults or {})}, **special)
