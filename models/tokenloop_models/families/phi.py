"""Phi 1, 1.5 and 2: both branches see the same normalised hidden state; part of a head turns.

x + attention(norm(x)) + mlp(norm(x)), with layer norms, a plain GELU MLP, and biases everywhere, on
the head too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tokenloop_models.families.common import llama_like
from tokenloop_models.families.family import Family
from tokenloop_models.families.storing import LLAMA_NAMES, gguf, safetensors
from tokenloop_models.roles import EVERYTHING

if TYPE_CHECKING:
    from tokenloop_models.config import DecoderConfig
    from tokenloop_models.families.settings import Settings

NAMES = {
    **LLAMA_NAMES,
    "o": "model.layers.{}.self_attn.dense",
    "up": "model.layers.{}.mlp.fc1",
    "down": "model.layers.{}.mlp.fc2",
    "norm": "model.final_layernorm",
}
GELU = {"hidden_act": "gelu_new"}
DEFAULTS = {
    **GELU,
    "layer_norm_eps": 1e-5,
    "max_position_embeddings": 2048,
    "partial_rotary_factor": 0.5,
}


def read(settings: Settings) -> DecoderConfig:
    """Read the settings."""
    settings.neutral("qk_layernorm", False)
    config = llama_like(settings, norm="layer", biases={*EVERYTHING, "head"}, partial=True)
    return replace(config, gated=False, arrangement="parallel_shared")


FAMILY = Family(
    name="phi",
    model_types=("phi",),
    architectures=("phi2",),
    read=read,
    stored={"safetensors": safetensors(DEFAULTS, names=NAMES), "gguf": gguf(GELU)},
)
