"""GPT-2, DistilGPT-2: learned positions, layer norms, a plain GELU MLP, biases everywhere.

Its products are stored transposed, as (inputs, outputs), and queries, keys and values as one
tensor; a GGUF has them the usual way round. Files of the first release lack ``transformer.`` before
their names.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from tokenloop_models.families.common import gpt_like
from tokenloop_models.families.family import Family
from tokenloop_models.families.storing import gguf, safetensors

if TYPE_CHECKING:
    from tokenloop_models.config import DecoderConfig
    from tokenloop_models.families.settings import Settings

NAMES = {
    "embedding": "transformer.wte",
    "positions": "transformer.wpe",
    "attention_norm": "transformer.h.{}.ln_1",
    "q k v": "transformer.h.{}.attn.c_attn",
    "o": "transformer.h.{}.attn.c_proj",
    "mlp_norm": "transformer.h.{}.ln_2",
    "up": "transformer.h.{}.mlp.c_fc",
    "down": "transformer.h.{}.mlp.c_proj",
    "norm": "transformer.ln_f",
    "head": "lm_head",
}
SPELLING = {
    "hidden_size": "n_embd",
    "num_hidden_layers": "n_layer",
    "num_attention_heads": "n_head",
    "intermediate_size": "n_inner",
    "max_position_embeddings": "n_positions",
    "layer_norm_eps": "layer_norm_epsilon",
    "hidden_act": "activation_function",
}
GELU = {"hidden_act": "gelu_new"}
DEFAULTS = {
    **GELU,
    "layer_norm_eps": 1e-5,
    "max_position_embeddings": 1024,
    "tie_word_embeddings": True,
}


def read(settings: Settings) -> DecoderConfig:
    """Read the settings."""
    config = gpt_like(settings)
    settings.neutral("scale_attn_weights", True)
    settings.get("reorder_and_upcast_attn")  # about lower precision
    if not settings.flag("scale_attn_by_inverse_layer_idx", False):
        return config
    scale = 1 / math.sqrt(config.head_dim)
    return config.each_layer(
        lambda index, layer: replace(layer, attention_scale=scale / (index + 1))
    )


FAMILY = Family(
    name="gpt2",
    model_types=("gpt2",),
    architectures=("gpt2",),
    read=read,
    stored={
        "safetensors": safetensors(
            DEFAULTS,
            names=NAMES,
            prefixes=("transformer.", ""),
            transposed=frozenset(("q", "k", "v", "o", "up", "down")),
            ignored=(r"(transformer\.)?h\.\d+\.attn\.(masked_)?bias",),
            spelling=SPELLING,
        ),
        "gguf": gguf(GELU),
    },
)
