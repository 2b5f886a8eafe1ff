"""Granite 3: a Llama with four multipliers.

Embeddings, attention scores (in the place of 1 / √head_dim), and what is added to the hidden state
are multiplied; logits are divided.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tokenloop_models.families.common import llama_like
from tokenloop_models.families.family import Family
from tokenloop_models.families.storing import gguf, safetensors

if TYPE_CHECKING:
    from tokenloop_models.config import DecoderConfig
    from tokenloop_models.families.settings import Settings

NONE = {"embedding_multiplier": 1.0, "residual_multiplier": 1.0, "logits_scaling": 1.0}
DEFAULTS = {
    **NONE,
    "attention_multiplier": 1.0,
    "rms_norm_eps": 1e-6,
    "max_position_embeddings": 2048,
}


def read(settings: Settings) -> DecoderConfig:
    """Read the settings."""
    config = llama_like(settings)
    scale = settings.maybe_number("attention_multiplier", low=1e-6)
    return replace(
        config.each_layer(lambda _, layer: replace(layer, attention_scale=scale)),
        embedding_scale=settings.number("embedding_multiplier"),
        residual_scale=settings.number("residual_multiplier"),
        logit_scale=1 / settings.number("logits_scaling", low=1e-6),
    )


FAMILY = Family(
    name="granite",
    model_types=("granite",),
    architectures=("granite",),
    read=read,
    stored={
        "safetensors": safetensors(DEFAULTS),
        "gguf": gguf(NONE, rotary_rows="pairs"),
    },
)
