"""StarCoder 2: layer norms, a plain GELU MLP and biases everywhere, with rotary positions.

All layers have a sliding window; a GGUF has lost it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tokenloop_models.families.common import llama_like
from tokenloop_models.families.family import Family
from tokenloop_models.families.mistral import with_window
from tokenloop_models.families.storing import LLAMA_NAMES, gguf, safetensors
from tokenloop_models.roles import ATTENTION, EVERYTHING, PLAIN

if TYPE_CHECKING:
    from tokenloop_models.config import DecoderConfig
    from tokenloop_models.families.settings import Settings

NAMES = {
    **LLAMA_NAMES,
    "up": "model.layers.{}.mlp.c_fc",
    "down": "model.layers.{}.mlp.c_proj",
}
GELU = {"hidden_act": "gelu_pytorch_tanh"}
DEFAULTS = {
    **GELU,
    "layer_norm_eps": 1e-5,
    "max_position_embeddings": 4096,
    "num_key_value_heads": 2,
    "tie_word_embeddings": True,
}


def read(settings: Settings) -> DecoderConfig:
    """Read the settings."""
    config = llama_like(settings, norm="layer")
    settings.neutral("layer_norm_epsilon", config.norm_eps)
    settings.get("rms_norm_eps")  # there in the 15B model's, of norms that it doesn't have
    settings.neutral("norm_type", "layer_norm")
    settings.neutral("mlp_type", "default")
    without = () if settings.flag("use_bias", True) else (*ATTENTION, *PLAIN)
    config = replace(config, gated=False, biases=EVERYTHING - {*without})
    return config if settings.gguf else with_window(settings, config)


FAMILY = Family(
    name="starcoder2",
    model_types=("starcoder2",),
    architectures=("starcoder2",),
    read=read,
    stored={
        "safetensors": safetensors(
            DEFAULTS, names=NAMES, spelling={"layer_norm_eps": "norm_epsilon"}
        ),
        "gguf": gguf(GELU),
    },
)
