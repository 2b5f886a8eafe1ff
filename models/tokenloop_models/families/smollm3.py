"""SmolLM 3: a Llama in which positions don't turn every fourth layer."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tokenloop_models.families.common import llama_like, unwindowed, windowed
from tokenloop_models.families.family import Family
from tokenloop_models.families.storing import gguf, safetensors

if TYPE_CHECKING:
    from tokenloop_models.config import DecoderConfig
    from tokenloop_models.families.settings import Settings

INTERVAL = {"no_rope_layer_interval": 4}
DEFAULTS = {
    **INTERVAL,
    "rms_norm_eps": 1e-6,
    "max_position_embeddings": 32_768,
    "num_key_value_heads": 4,
    "rope_theta": 2e6,
    "tie_word_embeddings": True,
}


def read(settings: Settings) -> DecoderConfig:
    """Read the settings."""
    config = llama_like(settings)
    count = len(config.layers)
    interval = settings.whole("no_rope_layer_interval")
    turns = [(index + 1) % interval != 0 for index in range(count)]
    if settings.states("no_rope_layers"):  # 1 where they do turn, whatever its name says
        turns = [each == 1 for each in settings.numbers("no_rope_layers", count)]
    config = config.each_layer(
        lambda index, layer: layer if turns[index] else replace(layer, rotary=None)
    )
    if settings.gguf or not settings.flag("use_sliding_window", False):
        return unwindowed(settings, config)
    window = settings.maybe_whole("sliding_window")
    return windowed(settings, config, lambda index: not turns[index], window=window)


FAMILY = Family(
    name="smollm3",
    model_types=("smollm3",),
    architectures=("smollm3",),
    read=read,
    stored={
        "safetensors": safetensors(DEFAULTS),
        "gguf": gguf(INTERVAL, rotary_rows="pairs"),
    },
)
