"""Qwen 3 with experts: a Qwen 3 with a mixture in the place of most MLPs.

Which layers keep one is a list or a step; whether the shares of the experts used are made to sum
to 1, its ``config.json`` says. In a GGUF they are, and all layers are mixtures.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tokenloop_models.families import qwen2
from tokenloop_models.families.common import experts, llama_like, unwindowed
from tokenloop_models.families.family import Family
from tokenloop_models.families.mistral import with_window
from tokenloop_models.families.storing import EXPERT_NAMES, LLAMA_NAMES, gguf, safetensors

if TYPE_CHECKING:
    from tokenloop_models.config import DecoderConfig
    from tokenloop_models.families.settings import Settings

DEFAULTS: dict[str, object] = {
    **qwen2.DEFAULTS,
    "num_key_value_heads": 4,
    "num_experts_per_tok": 8,
    "norm_topk_prob": False,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
}
ALWAYS: dict[str, object] = {
    "norm_topk_prob": True,
    "decoder_sparse_step": 1,
    "mlp_only_layers": [],
}


def read(settings: Settings) -> DecoderConfig:
    """Read the settings."""
    config = replace(llama_like(settings), qk_norm="head")
    windowed = not settings.gguf and settings.flag("use_sliding_window")
    config = (with_window if windowed else unwindowed)(settings, config)
    newer = "num_local_experts"
    mixture = experts(
        settings,
        renormalised=settings.flag("norm_topk_prob"),
        name=newer if settings.states(newer) else "num_experts",
    )
    inside = settings.whole("moe_intermediate_size")
    step = settings.whole("decoder_sparse_step")
    dense = settings.get("mlp_only_layers") or []
    if not isinstance(dense, list) or not all(isinstance(each, int) for each in dense):
        raise settings.refused("mlp_only_layers", "must be a list of layers' numbers")
    return config.each_layer(
        lambda index, layer: (
            layer
            if index in dense or (index + 1) % step
            else replace(layer, intermediate=inside, experts=mixture)
        )
    )


FAMILY = Family(
    name="qwen3_moe",
    model_types=("qwen3_moe",),
    architectures=("qwen3moe",),
    read=read,
    stored={
        "safetensors": safetensors(DEFAULTS, names={**LLAMA_NAMES, **EXPERT_NAMES}),
        "gguf": gguf(ALWAYS),
    },
)
