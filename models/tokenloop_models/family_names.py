"""The families that can be run, by name alone, for lists that must not wait for torch.

The families themselves are in ``families/``; a test holds these names against them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tokenloop_models.compressed import in_config
from tokenloop_models.errors import quoted

MODEL_TYPES = frozenset(
    {
        *("gpt2", "gpt_neo", "gpt_neox", "opt"),
        *("llama", "mistral", "mixtral", "smollm3", "granite", "stablelm", "starcoder2"),
        *("qwen2", "qwen3", "qwen3_moe", "olmo2", "olmoe", "phi", "phi3"),
        *("gemma", "gemma2", "gemma3", "gemma3_text"),
    }
)
"""What ``model_type`` of a ``config.json`` may say."""

ARCHITECTURES = frozenset(
    {
        *("gpt2", "gptneox"),
        *("llama", "smollm3", "granite", "stablelm", "starcoder2"),
        *("qwen2", "qwen3", "qwen3moe", "olmo2", "olmoe", "phi2", "phi3"),
        *("gemma", "gemma2", "gemma3"),
    }
)
"""What ``general.architecture`` of a GGUF may say."""


def unsupported(config: Mapping[str, Any]) -> str | None:
    """Say why a model can't be run, from its ``config.json`` alone; ``None`` where it may be."""
    model_type = config.get("model_type")
    if not isinstance(model_type, str):
        return "model_type: is missing"
    if model_type not in MODEL_TYPES:
        return f"model_type: {quoted(model_type)} is not supported"
    compression = in_config(config)
    if compression is None:
        return None
    return f"{compression.field}: {quoted(compression.method)} weights are not supported"
