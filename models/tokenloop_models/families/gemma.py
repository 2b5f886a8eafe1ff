"""Gemma: a Llama with a GELU in its MLP, embeddings scaled by √hidden, and norms around 1.

Its norms multiply with 1 + w; safetensors hold w, a GGUF holds 1 + w.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from tokenloop_models.families.common import llama_like
from tokenloop_models.families.family import Family
from tokenloop_models.families.storing import gguf, safetensors

if TYPE_CHECKING:
    from tokenloop_models.config import DecoderConfig
    from tokenloop_models.families.settings import Settings

GELU = {"hidden_act": "gelu_pytorch_tanh"}
DEFAULTS = {
    **GELU,
    "rms_norm_eps": 1e-6,
    "max_position_embeddings": 8192,
    "head_dim": 256,
    "tie_word_embeddings": True,
}


def read(settings: Settings) -> DecoderConfig:
    """Read the settings."""
    settings.neutral("use_bidirectional_attention", False)
    config = llama_like(settings)
    return replace(config, embedding_scale=math.sqrt(config.hidden))


FAMILY = Family(
    name="gemma",
    model_types=("gemma",),
    architectures=("gemma",),
    read=read,
    stored={"safetensors": safetensors(DEFAULTS, added_to_norms=1.0), "gguf": gguf(GELU)},
)
