"""The families that can be run, by what their files call them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokenloop_models.errors import ModelError, quoted
from tokenloop_models.families import (
    gemma,
    gemma2,
    gemma3,
    gpt2,
    gpt_neo,
    gpt_neox,
    granite,
    llama,
    mistral,
    mixtral,
    olmo2,
    olmoe,
    opt,
    phi,
    phi3,
    qwen2,
    qwen3,
    qwen3_moe,
    smollm3,
    stablelm,
    starcoder2,
)
from tokenloop_models.families.settings import Settings
from tokenloop_models.fields import settings_file

if TYPE_CHECKING:
    from tokenloop_models.checkpoint import Checkpoint
    from tokenloop_models.config import DecoderConfig
    from tokenloop_models.families.family import Family

FAMILIES: tuple[Family, ...] = (
    gemma.FAMILY,
    gemma2.FAMILY,
    gemma3.FAMILY,
    gpt2.FAMILY,
    gpt_neo.FAMILY,
    gpt_neox.FAMILY,
    granite.FAMILY,
    llama.FAMILY,
    mistral.FAMILY,
    mixtral.FAMILY,
    olmo2.FAMILY,
    olmoe.FAMILY,
    opt.FAMILY,
    phi.FAMILY,
    phi3.FAMILY,
    qwen2.FAMILY,
    qwen3.FAMILY,
    qwen3_moe.FAMILY,
    smollm3.FAMILY,
    stablelm.FAMILY,
    starcoder2.FAMILY,
)
MODEL_TYPES = {name: family for family in FAMILIES for name in family.model_types}
"""By ``model_type`` of a ``config.json``."""
ARCHITECTURES = {name: family for family in FAMILIES for name in family.architectures}
"""By ``general.architecture`` of a GGUF."""


def family_of(checkpoint: Checkpoint) -> Family:
    """Find the family of a checkpoint.

    Raises:
        ModelError: its architecture is not in the table.
    """
    gguf = checkpoint.format == "gguf"
    table = ARCHITECTURES if gguf else MODEL_TYPES
    family = table.get(checkpoint.architecture)
    if family is None:
        field = "general.architecture" if gguf else "model_type"
        problem = f"{field} = {quoted(checkpoint.architecture)} is not known here"
        known = ", ".join(sorted(table))
        raise ModelError(f"{settings_file(checkpoint)}: {problem}; known: {known}")
    return family


def read_config(checkpoint: Checkpoint, family: Family) -> DecoderConfig:
    """Resolve a checkpoint's settings.

    Raises:
        ModelError: a field is missing or out of range, or asks for what its family doesn't do.
    """
    inside = None if checkpoint.format == "gguf" else family.text.get(checkpoint.architecture)
    settings = Settings(checkpoint, family.stored[checkpoint.format], inside)
    config = family.read(settings)
    settings.refuse_unknown()
    return config
