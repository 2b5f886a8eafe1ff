"""Gemma 2: a Gemma with norms after each branch too, soft caps, and every other layer sliding.

A soft cap squashes attention scores and logits smoothly into ±cap. Scores are divided by
√query_pre_attn_scalar, which is the head's size but for the 27B model.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from tokenloop_models.families import gemma
from tokenloop_models.families.common import llama_like, windowed
from tokenloop_models.families.family import Family
from tokenloop_models.families.storing import LLAMA_NAMES, gguf, safetensors

if TYPE_CHECKING:
    from tokenloop_models.config import DecoderConfig
    from tokenloop_models.families.settings import Settings

NAMES = {
    **LLAMA_NAMES,
    "attention_post_norm": "model.layers.{}.post_attention_layernorm",
    "mlp_norm": "model.layers.{}.pre_feedforward_layernorm",
    "mlp_post_norm": "model.layers.{}.post_feedforward_layernorm",
}
CAPS = {"attn_logit_softcapping": 50.0, "final_logit_softcapping": 30.0}
DEFAULTS = {
    **gemma.DEFAULTS,
    **CAPS,
    "num_key_value_heads": 4,
    "sliding_window": 4096,
    "query_pre_attn_scalar": 256,
}
LAYERS_OF_27B = 46


def read(settings: Settings) -> DecoderConfig:
    """Read the settings."""
    config = with_sandwich(settings, llama_like(settings), LAYERS_OF_27B)
    window = settings.whole("sliding_window")
    settings.neutral("sliding_window_size", window)
    return windowed(settings, config, lambda index: index % 2 == 0, window=window)


def with_sandwich(settings: Settings, config: DecoderConfig, layers_of_27b: int) -> DecoderConfig:
    """The same with what Gemma 2 and 3 have in common.

    Args:
        settings: of the model.
        config: what has been read so far.
        layers_of_27b: tells the 27B model, whose scores have another scale, in a GGUF, which
            doesn't hold the scale.
    """
    settings.neutral("use_bidirectional_attention", False)
    divisor = config.hidden / config.heads if len(config.layers) == layers_of_27b else None
    if divisor is None or not settings.gguf:
        divisor = settings.number("query_pre_attn_scalar", config.head_dim, low=1e-3)
    scale = 1 / math.sqrt(divisor)
    return replace(
        config.each_layer(lambda _, layer: replace(layer, attention_scale=scale)),
        arrangement="sandwich",
        embedding_scale=math.sqrt(config.hidden),
        attention_cap=settings.maybe_number("attn_logit_softcapping", low=1e-3),
        logit_cap=settings.maybe_number("final_logit_softcapping", low=1e-3),
    )


FAMILY = Family(
    name="gemma2",
    model_types=("gemma2",),
    architectures=("gemma2",),
    read=read,
    stored={
        "safetensors": safetensors(DEFAULTS, names=NAMES, added_to_norms=1.0),
        "gguf": gguf({**gemma.GELU, **CAPS, "sliding_window": 4096}),
    },
)
