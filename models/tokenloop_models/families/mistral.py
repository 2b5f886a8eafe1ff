"""Mistral: a Llama whose positions see only the last ``sliding_window`` ones, themselves included.

Through its layers a position still hears of earlier ones. Its GGUF is a ``llama`` and has lost the
window, so that the two differ on texts that are longer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokenloop_models.families.common import llama_like, windowed
from tokenloop_models.families.family import Family
from tokenloop_models.families.storing import safetensors

if TYPE_CHECKING:
    from tokenloop_models.config import DecoderConfig
    from tokenloop_models.families.settings import Settings


def read(settings: Settings) -> DecoderConfig:
    """Read the settings."""
    return with_window(settings, llama_like(settings))


def with_window(settings: Settings, config: DecoderConfig) -> DecoderConfig:
    """The same with the file's window, if it has one, in every layer."""
    window = settings.maybe_whole("sliding_window")
    return windowed(settings, config, lambda _: True, window=window)


FAMILY = Family(
    name="mistral",
    model_types=("mistral",),
    read=read,
    stored={
        "safetensors": safetensors(
            {
                "rms_norm_eps": 1e-6,
                "max_position_embeddings": 131_072,
                "num_key_value_heads": 8,
                "sliding_window": 4096,
            }
        )
    },
)
