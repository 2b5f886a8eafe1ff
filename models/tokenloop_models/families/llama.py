"""Llama: RMS norms, rotary positions, grouped query heads, a gated SiLU MLP, no biases by default.

Llama 1 to 3.2, TinyLlama, SmolLM and SmolLM2, and what else calls itself ``llama``. Two things in
its GGUF differ from its safetensors: query and key rows are stored in rotary pairs, and ``llama3``
rope scaling is a tensor of divisors.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tokenloop_models.config import DecoderConfig
from tokenloop_models.families import rotary
from tokenloop_models.families.family import Family
from tokenloop_models.fields import Fields

if TYPE_CHECKING:
    from tokenloop_models.checkpoint import Checkpoint

NAMES_SAFETENSORS = {
    "embedding": "model.embed_tokens",
    "attention_norm": "model.layers.{}.input_layernorm",
    "q": "model.layers.{}.self_attn.q_proj",
    "k": "model.layers.{}.self_attn.k_proj",
    "v": "model.layers.{}.self_attn.v_proj",
    "o": "model.layers.{}.self_attn.o_proj",
    "mlp_norm": "model.layers.{}.post_attention_layernorm",
    "gate": "model.layers.{}.mlp.gate_proj",
    "up": "model.layers.{}.mlp.up_proj",
    "down": "model.layers.{}.mlp.down_proj",
    "norm": "model.norm",
    "head": "lm_head",
}
NAMES_GGUF = {
    "embedding": "token_embd",
    "attention_norm": "blk.{}.attn_norm",
    "q": "blk.{}.attn_q",
    "k": "blk.{}.attn_k",
    "v": "blk.{}.attn_v",
    "o": "blk.{}.attn_output",
    "mlp_norm": "blk.{}.ffn_norm",
    "gate": "blk.{}.ffn_gate",
    "up": "blk.{}.ffn_up",
    "down": "blk.{}.ffn_down",
    "norm": "output_norm",
    "head": "output",
}
ATTENTION_BIASES = ("q", "k", "v", "o")
MLP_BIASES = ("gate", "up", "down")
MOST_LAYERS = 10_000

NEUTRAL: dict[str, tuple[object, ...]] = {
    "architectures": (["LlamaForCausalLM"],),
    "rope_interleaved": (False,),
    "is_decoder": (True, False),
    "is_encoder_decoder": (False,),
    "add_cross_attention": (False,),
    "is_llama_config": (True,),
    "attention_dropout": (0.0, 0),
    "partial_rotary_factor": (1.0, 1),
    "pruned_heads": ({},),
}
"""Fields of a ``config.json`` that are fine at these values, and change the model at others."""

READ = {
    "model_type", "vocab_size", "hidden_size", "intermediate_size", "num_hidden_layers",
    "num_attention_heads", "num_key_value_heads", "head_dim", "hidden_act", "rms_norm_eps",
    "max_position_embeddings", "rope_theta", "rope_scaling", "rope_parameters",
    "tie_word_embeddings", "attention_bias", "mlp_bias", "initializer_range", "torch_dtype",
    "pretraining_tp", "num_labels", "problem_type", "use_cache", "output_attentions",
    "output_hidden_states", "bos_token_id", "eos_token_id", "pad_token_id", "unk_token_id",
    "_attn_implementation", "_attn_implementation_autoset",
}  # fmt: skip
"""Fields of a ``config.json`` that are read, or that say nothing about the arithmetic."""

SPEAKS_OF_ARITHMETIC = re.compile(
    "act|alibi|attn|attention|bias|clip|embedding|expert|factor|head|layer|logit|mlp|moe|"
    "multiplier|norm|quant|residual|rope|rotary|scal|softcap|window|auto_map"
)
"""A field that isn't known is refused where its name says that it could change the model."""

READ_GGUF = {
    "block_count", "context_length", "embedding_length", "feed_forward_length", "vocab_size",
    "attention.head_count", "attention.head_count_kv", "attention.key_length",
    "attention.value_length", "attention.layer_norm_rms_epsilon", "rope.dimension_count",
    "rope.freq_base", "rope.scaling.type", "rope.scaling.factor", "rope.scaling.attn_factor",
    "rope.scaling.original_context_length", "rope.scaling.finetuned", "rope.scale_linear",
}  # fmt: skip
NEUTRAL_GGUF: dict[str, tuple[object, ...]] = {
    "expert_count": (0,),
    "expert_used_count": (0,),
    "use_parallel_residual": (False,),
    "tensor_data_layout": ("Meta AI original pth",),
    "attention.causal": (True,),
}


def read(checkpoint: Checkpoint) -> DecoderConfig:
    """Resolve a checkpoint's settings.

    Raises:
        ModelError: a field is missing or out of range, or asks for what this family doesn't do.
    """
    fields = Fields.of(checkpoint)
    if checkpoint.format == "gguf":
        return _read_gguf(checkpoint, fields)
    return _read_config_json(fields)


def _read_config_json(fields: Fields) -> DecoderConfig:
    for name in fields.names():
        if name in NEUTRAL:
            fields.neutral(name, *NEUTRAL[name])
        elif name not in READ and SPEAKS_OF_ARITHMETIC.search(name):
            fields.neutral(name, False)
    hidden = fields.whole("hidden_size")
    heads = fields.whole("num_attention_heads")
    head_dim = _head_dim(fields, "head_dim", hidden, heads)
    fields.choice("hidden_act", ("silu", "swish"), "silu")
    biases: tuple[str, ...] = ()
    biases += ATTENTION_BIASES if fields.flag("attention_bias", False) else ()
    biases += MLP_BIASES if fields.flag("mlp_bias", False) else ()
    return DecoderConfig(
        vocab_size=fields.whole("vocab_size"),
        hidden=hidden,
        layers=fields.whole("num_hidden_layers", high=MOST_LAYERS),
        heads=heads,
        kv_heads=_kv_heads(fields, "num_key_value_heads", heads),
        head_dim=head_dim,
        intermediate=fields.whole("intermediate_size"),
        context_length=fields.whole("max_position_embeddings", 2048),
        norm_eps=fields.number("rms_norm_eps", 1e-6, low=0.0, high=1.0),
        activation="silu",
        rope_frequencies=rotary.from_config_json(fields, head_dim),
        tied_head=fields.flag("tie_word_embeddings", False),
        biases=frozenset(biases),
    )


def _read_gguf(checkpoint: Checkpoint, fields: Fields) -> DecoderConfig:
    for name in fields.names():
        if name not in READ_GGUF:
            fields.neutral(name, *NEUTRAL_GGUF.get(name, ()))
    hidden = fields.whole("embedding_length")
    heads = fields.whole("attention.head_count")
    head_dim = _head_dim(fields, "attention.key_length", hidden, heads)
    fields.neutral("attention.value_length", head_dim)
    names = checkpoint.names()
    first_layer = {role: NAMES_GGUF[role].format(0) for role in (*ATTENTION_BIASES, *MLP_BIASES)}
    vocab_size = checkpoint.shape("token_embd.weight")[0]
    fields.neutral("vocab_size", vocab_size)
    return DecoderConfig(
        vocab_size=vocab_size,
        hidden=hidden,
        layers=fields.whole("block_count", high=MOST_LAYERS),
        heads=heads,
        kv_heads=_kv_heads(fields, "attention.head_count_kv", heads),
        head_dim=head_dim,
        intermediate=fields.whole("feed_forward_length"),
        context_length=fields.whole("context_length"),
        norm_eps=fields.number("attention.layer_norm_rms_epsilon", low=0.0, high=1.0),
        activation="silu",
        rope_frequencies=rotary.from_gguf(checkpoint, fields, head_dim),
        tied_head="output.weight" not in names,
        biases=frozenset(role for role, name in first_layer.items() if f"{name}.bias" in names),
    )


def _head_dim(fields: Fields, name: str, hidden: int, heads: int) -> int:
    if fields.get(name) is None and hidden % heads:
        raise fields.refused(name, f"must be given: {heads} heads don't divide {hidden} features")
    head_dim = fields.whole(name, hidden // heads)
    if head_dim % 2:
        raise fields.refused(name, f"must be even for rotary pairs, not {head_dim}")
    return head_dim


def _kv_heads(fields: Fields, name: str, heads: int) -> int:
    kv_heads = fields.whole(name, heads)
    if heads % kv_heads:
        raise fields.refused(name, f"must divide the {heads} query heads")
    return kv_heads


FAMILY = Family(
    name="llama",
    read=read,
    names={"safetensors": NAMES_SAFETENSORS, "gguf": NAMES_GGUF},
    ignored={
        "safetensors": (r"model\.(layers\.\d+\.self_attn\.)?rotary_emb\.inv_freq",),
        "gguf": (r"rope_freqs\.weight", r"blk\.\d+\.attn_rot_embd(\.weight)?"),
    },
    rotary_rows={"safetensors": "halves", "gguf": "pairs"},
)
