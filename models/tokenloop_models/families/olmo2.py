"""OLMo 2: norms after each branch only, and one over all heads of queries, or of keys, at once."""

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
    "attention_post_norm": "model.layers.{}.post_attention_layernorm",
    "mlp_post_norm": "model.layers.{}.post_feedforward_layernorm",
}


def read(settings: Settings) -> DecoderConfig:
    """Read the settings."""
    return replace(llama_like(settings), arrangement="post", qk_norm="across_heads")


FAMILY = Family(
    name="olmo2",
    model_types=("olmo2",),
    architectures=("olmo2",),
    read=read,
    stored={
        "safetensors": safetensors(
            {"rms_norm_eps": 1e-5, "max_position_embeddings": 2048}, names=NAMES
        ),
        "gguf": gguf(),
    },
)
