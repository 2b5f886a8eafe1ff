"""Gemma 3: norms on query and key heads, no soft caps, and two rotary bases.

Five of six layers slide, over positions that turn with a base of 10,000; every sixth sees
everything, over positions that turn slower. Of a ``gemma3`` that also sees pictures, this is the
part that reads and writes text.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tokenloop_models.families import gemma, gemma2, rotary
from tokenloop_models.families.common import FULL, SLIDING, head_dim, llama_like, windowed
from tokenloop_models.families.family import Family
from tokenloop_models.families.storing import gguf, safetensors

if TYPE_CHECKING:
    from tokenloop_models.config import DecoderConfig, Rotary
    from tokenloop_models.families.settings import Settings

BASES = {"rope_theta": 1e6, "rope_local_base_freq": 1e4, "rope.freq_base_swa": 1e4}
DEFAULTS = {
    **gemma.DEFAULTS,
    **BASES,
    "vocab_size": 262_208,
    "num_attention_heads": 8,
    "num_key_value_heads": 4,
    "max_position_embeddings": 131_072,
    "sliding_window": 4096,
    "query_pre_attn_scalar": 256,
    "sliding_window_pattern": 6,
}
"""A ``gemma3`` names only what differs from these."""
LAYERS_OF_27B = 62
PREFIXES = ("model.", "language_model.model.", "model.language_model.")
PICTURES = (r"(model\.)?(vision_tower|multi_modal_projector)\..*",)


def read(settings: Settings) -> DecoderConfig:
    """Read the settings."""
    everywhere, nearby = _rotaries(settings)
    config = replace(llama_like(settings, turning=everywhere), qk_norm="head")
    config = gemma2.with_sandwich(settings, config, LAYERS_OF_27B)
    window = settings.maybe_whole("sliding_window")
    period = settings.whole("sliding_window_pattern")
    config = windowed(settings, config, lambda index: (index + 1) % period != 0, window=window)
    return config.each_layer(
        lambda _, layer: layer if layer.window is None else replace(layer, rotary=nearby)
    )


def _rotaries(settings: Settings) -> tuple[Rotary, Rotary]:
    """How positions turn in layers that see everything, and in layers that slide."""
    dim = head_dim(settings)
    if settings.gguf:
        nearby = rotary.plain(settings.number("rope.freq_base_swa", low=1.0), dim)
        return rotary.read(settings, dim), nearby
    both = settings.inside("rope_parameters")
    if both.states(FULL) or both.states(SLIDING):
        everywhere = rotary.from_fields(settings, both.inside(FULL), dim)
        name = "rope_local_base_freq"
        nearby = rotary.from_fields(settings, both.inside(SLIDING), dim, theta_name=name)
        for unknown in both.unasked():
            raise both.refused(unknown, f"is not known beside {FULL} and {SLIDING}")
        return everywhere, nearby
    return rotary.read(settings, dim), rotary.plain(settings.number("rope_local_base_freq"), dim)


FAMILY = Family(
    name="gemma3",
    model_types=("gemma3_text", "gemma3"),
    architectures=("gemma3",),
    read=read,
    stored={
        "safetensors": safetensors(
            DEFAULTS,
            names=gemma2.NAMES,
            prefixes=PREFIXES,
            added_to_norms=1.0,
            ignored=PICTURES,
        ),
        "gguf": gguf({**gemma.GELU, **BASES, "sliding_window_pattern": 6}),
    },
    text={"gemma3": "text_config"},
)
