"""Phi 3, 3.5, 4 and 4-mini: a Llama with fused products, and positions for long texts.

Queries, keys and values are one tensor, gate and up another, in both formats. The 128k models turn
keys of texts that are longer than their first training's in another way (``longrope``); 4-mini
turns three quarters of a head.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokenloop_models.families.common import llama_like, windowed
from tokenloop_models.families.family import Family
from tokenloop_models.families.storing import GGUF_NAMES, LLAMA_NAMES, gguf, safetensors

if TYPE_CHECKING:
    from tokenloop_models.config import DecoderConfig
    from tokenloop_models.families.settings import Settings

SEPARATE = ("q", "k", "v", "gate", "up")
NAMES = {
    **{role: name for role, name in LLAMA_NAMES.items() if role not in SEPARATE},
    "q k v": "model.layers.{}.self_attn.qkv_proj",
    "gate up": "model.layers.{}.mlp.gate_up_proj",
}
NAMES_GGUF = {
    **{role: name for role, name in GGUF_NAMES.items() if role not in ("gate", "up")},
    "gate up": "blk.{}.ffn_up",
}
DEFAULTS = {
    "rms_norm_eps": 1e-5,
    "max_position_embeddings": 4096,
    "original_max_position_embeddings": 4096,
    "partial_rotary_factor": 1.0,
}


def read(settings: Settings) -> DecoderConfig:
    """Read the settings."""
    config = llama_like(settings, partial=True)
    settings.get("original_max_position_embeddings")
    settings.neutral("full_attn_mod", 1)
    settings.neutral("interpolate_factor", 1)
    window = settings.whole("sliding_window", 0, low=0) or None  # 0 stands for none in a GGUF
    return windowed(settings, config, lambda _: True, window=window)


FAMILY = Family(
    name="phi3",
    model_types=("phi3",),
    architectures=("phi3",),
    read=read,
    stored={
        "safetensors": safetensors(DEFAULTS, names=NAMES),
        "gguf": gguf(names=NAMES_GGUF),
    },
)
