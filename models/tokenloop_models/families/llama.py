"""Llama: RMS norms, rotary positions, grouped query heads, a gated SiLU MLP, no biases by default.

Llama 1 to 3.2, TinyLlama, SmolLM and SmolLM2, and what else calls itself ``llama``. Two things in
its GGUF differ from its safetensors: query and key rows are stored in rotary pairs, and ``llama3``
rope scaling is a tensor of divisors. A GGUF of this architecture may also be a Mistral, or with
experts a Mixtral.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokenloop_models.families.common import llama_like
from tokenloop_models.families.family import Family
from tokenloop_models.families.mixtral import with_experts
from tokenloop_models.families.storing import gguf, safetensors

if TYPE_CHECKING:
    from tokenloop_models.config import DecoderConfig
    from tokenloop_models.families.settings import Settings


def read(settings: Settings) -> DecoderConfig:
    """Read the settings: what is plain in a Llama is what all others differ from."""
    config = llama_like(settings)
    mixture = settings.gguf and settings.whole("num_experts", 0, low=0) > 0
    return with_experts(settings, config) if mixture else config


FAMILY = Family(
    name="llama",
    model_types=("llama",),
    architectures=("llama",),
    read=read,
    stored={
        "safetensors": safetensors({"rms_norm_eps": 1e-6, "max_position_embeddings": 2048}),
        "gguf": gguf(rotary_rows="pairs"),
    },
)
