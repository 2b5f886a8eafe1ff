"""Qwen 3: a Llama with a norm on each query and key head, and heads of a size of their own."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tokenloop_models.families import qwen2
from tokenloop_models.families.common import llama_like
from tokenloop_models.families.family import Family
from tokenloop_models.families.storing import gguf, safetensors

if TYPE_CHECKING:
    from tokenloop_models.config import DecoderConfig
    from tokenloop_models.families.settings import Settings

DEFAULTS = {**qwen2.DEFAULTS, "head_dim": 128}


def read(settings: Settings) -> DecoderConfig:
    """Read the settings."""
    return qwen2.with_window(settings, replace(llama_like(settings), qk_norm="head"))


FAMILY = Family(
    name="qwen3",
    model_types=("qwen3",),
    architectures=("qwen3",),
    read=read,
    stored={"safetensors": safetensors(DEFAULTS), "gguf": gguf()},
)
