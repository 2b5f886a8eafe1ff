"""OLMoE: a Llama with a mixture of 64 experts, and one norm over all heads of queries, or of keys.

The shares of the experts used are left as they are, so that they sum to less than 1.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tokenloop_models.families.common import experts, llama_like
from tokenloop_models.families.family import Family
from tokenloop_models.families.storing import EXPERT_NAMES, LLAMA_NAMES, gguf, safetensors

if TYPE_CHECKING:
    from tokenloop_models.config import DecoderConfig
    from tokenloop_models.families.settings import Settings

SHARES = {"norm_topk_prob": False}
DEFAULTS = {
    **SHARES,
    "rms_norm_eps": 1e-5,
    "max_position_embeddings": 4096,
    "num_experts": 64,
    "num_experts_per_tok": 8,
}


def read(settings: Settings) -> DecoderConfig:
    """Read the settings."""
    settings.neutral("clip_qkv")
    config = replace(llama_like(settings), qk_norm="across_heads")
    mixture = experts(settings, renormalised=settings.flag("norm_topk_prob"))
    return config.each_layer(lambda _, layer: replace(layer, experts=mixture))


FAMILY = Family(
    name="olmoe",
    model_types=("olmoe",),
    architectures=("olmoe",),
    read=read,
    stored={
        "safetensors": safetensors(DEFAULTS, names={**LLAMA_NAMES, **EXPERT_NAMES}),
        "gguf": gguf(SHARES),
    },
)
