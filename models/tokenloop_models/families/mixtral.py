"""Mixtral: a Mistral with a mixture of experts in the place of each MLP.

A position goes through the best two of eight; their shares are made to sum to 1. A GGUF calls it
``llama`` and says how many experts there are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tokenloop_models.families.common import experts, llama_like
from tokenloop_models.families.family import Family
from tokenloop_models.families.mistral import with_window
from tokenloop_models.families.storing import LLAMA_NAMES, safetensors

if TYPE_CHECKING:
    from tokenloop_models.config import DecoderConfig
    from tokenloop_models.families.settings import Settings

NAMES = {
    **LLAMA_NAMES,
    "router": "model.layers.{}.block_sparse_moe.gate",
    "expert_gate": "model.layers.{}.block_sparse_moe.experts.{}.w1",
    "expert_up": "model.layers.{}.block_sparse_moe.experts.{}.w3",
    "expert_down": "model.layers.{}.block_sparse_moe.experts.{}.w2",
}


def read(settings: Settings) -> DecoderConfig:
    """Read the settings."""
    return with_experts(settings, with_window(settings, llama_like(settings)))


def with_experts(settings: Settings, config: DecoderConfig) -> DecoderConfig:
    """The same with a mixture in every layer."""
    mixture = experts(settings, renormalised=True)
    return config.each_layer(lambda _, layer: replace(layer, experts=mixture))


FAMILY = Family(
    name="mixtral",
    model_types=("mixtral",),
    read=read,
    stored={
        "safetensors": safetensors(
            {
                "rms_norm_eps": 1e-5,
                "rope_theta": 1e6,
                "max_position_embeddings": 131_072,
                "num_key_value_heads": 8,
                "num_experts": 8,
                "num_experts_per_tok": 2,
            },
            names=NAMES,
            spelling={"num_experts": "num_local_experts"},
        )
    },
)
