"""Qwen 2 and 2.5: a Llama with biases on queries, keys and values.

Its sliding window is off in all published files; where it is on, layers from ``max_window_layers``
on have it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokenloop_models.families.common import llama_like, unwindowed, windowed
from tokenloop_models.families.family import Family
from tokenloop_models.families.storing import gguf, safetensors

if TYPE_CHECKING:
    from tokenloop_models.config import DecoderConfig
    from tokenloop_models.families.settings import Settings

DEFAULTS = {
    "rms_norm_eps": 1e-6,
    "max_position_embeddings": 32_768,
    "num_key_value_heads": 32,
    "use_sliding_window": False,
    "sliding_window": 4096,
    "max_window_layers": 28,
}


def read(settings: Settings) -> DecoderConfig:
    """Read the settings."""
    return with_window(settings, llama_like(settings, biases=("q", "k", "v")))


def with_window(settings: Settings, config: DecoderConfig) -> DecoderConfig:
    """The same with a window in the upper layers, if it is on; a GGUF has none."""
    if settings.gguf or not settings.flag("use_sliding_window"):
        return unwindowed(settings, config)
    first = settings.whole("max_window_layers", low=0)
    window = settings.maybe_whole("sliding_window")
    return windowed(settings, config, lambda index: index >= first, window=window)


FAMILY = Family(
    name="qwen2",
    model_types=("qwen2",),
    architectures=("qwen2",),
    read=read,
    stored={"safetensors": safetensors(DEFAULTS), "gguf": gguf()},
)
