"""StableLM: a Llama with layer norms, of whose heads a quarter turns.

The 12B model has a layer norm for each query and key head, and both branches see the same
normalised hidden state. What a GGUF has of these is told by its tensors.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tokenloop_models.families.common import llama_like
from tokenloop_models.families.family import Family
from tokenloop_models.families.storing import LLAMA_NAMES, gguf, safetensors

if TYPE_CHECKING:
    from tokenloop_models.config import DecoderConfig
    from tokenloop_models.families.settings import Settings

NAMES = {
    **LLAMA_NAMES,
    "q_norm": "model.layers.{}.self_attn.q_layernorm.norms.{}",
    "k_norm": "model.layers.{}.self_attn.k_layernorm.norms.{}",
}
DEFAULTS = {
    "layer_norm_eps": 1e-5,
    "max_position_embeddings": 4096,
    "num_key_value_heads": 32,
    "partial_rotary_factor": 0.25,
}
NORMS = ("attention_norm", "mlp_norm", "norm")


def read(settings: Settings) -> DecoderConfig:
    """Read the settings."""
    config = llama_like(settings, norm="layer", biases=NORMS, partial=True)
    if settings.gguf:
        there = settings.checkpoint.names()
        settings.get("use_parallel_residual")  # converters write true where the model says nothing
        parallel = "blk.0.ffn_norm.weight" not in there
        normed = "blk.0.attn_q_norm.weight" in there
        return _with(config, parallel=parallel, normed=normed)
    if settings.flag("use_qkv_bias", False):
        config = replace(config, biases=config.biases | {"q", "k", "v"})
    parallel = settings.flag("use_parallel_residual", False)
    return _with(config, parallel=parallel, normed=settings.flag("qk_layernorm", False))


def _with(config: DecoderConfig, *, parallel: bool, normed: bool) -> DecoderConfig:
    return replace(
        config,
        arrangement="parallel_shared" if parallel else "pre",
        qk_norm="each_head" if normed else None,
    )


FAMILY = Family(
    name="stablelm",
    model_types=("stablelm",),
    architectures=("stablelm",),
    read=read,
    stored={"safetensors": safetensors(DEFAULTS, names=NAMES), "gguf": gguf()},
)
