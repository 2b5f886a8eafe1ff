"""GPT-NeoX, Pythia: both branches of a layer see the same hidden state; a quarter of a head turns.

x + attention(norm(x)) + mlp(norm'(x)). Queries, keys and values are stored as one tensor, in
safetensors head by head.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tokenloop_models.families.common import llama_like
from tokenloop_models.families.family import Family
from tokenloop_models.families.storing import gguf, safetensors
from tokenloop_models.roles import ATTENTION, EVERYTHING

if TYPE_CHECKING:
    from tokenloop_models.config import DecoderConfig
    from tokenloop_models.families.settings import Settings

NAMES = {
    "embedding": "gpt_neox.embed_in",
    "attention_norm": "gpt_neox.layers.{}.input_layernorm",
    "q k v": "gpt_neox.layers.{}.attention.query_key_value",
    "o": "gpt_neox.layers.{}.attention.dense",
    "mlp_norm": "gpt_neox.layers.{}.post_attention_layernorm",
    "up": "gpt_neox.layers.{}.mlp.dense_h_to_4h",
    "down": "gpt_neox.layers.{}.mlp.dense_4h_to_h",
    "norm": "gpt_neox.final_layer_norm",
    "head": "embed_out",
}
SPELLING = {"partial_rotary_factor": "rotary_pct", "rope_theta": "rotary_emb_base"}
GELU = {"hidden_act": "gelu", "use_parallel_residual": True}
DEFAULTS = {
    **GELU,
    "layer_norm_eps": 1e-5,
    "max_position_embeddings": 2048,
    "partial_rotary_factor": 0.25,
    "attention_bias": True,
}
BUFFERS = (r"gpt_neox\.layers\.\d+\.attention\.((masked_)?bias|rotary_emb\.inv_freq)",)


def read(settings: Settings) -> DecoderConfig:
    """Read the settings."""
    config = llama_like(settings, norm="layer", biases=EVERYTHING - {*ATTENTION}, partial=True)
    parallel = settings.flag("use_parallel_residual")
    return replace(config, gated=False, arrangement="parallel" if parallel else "pre")


FAMILY = Family(
    name="gpt_neox",
    model_types=("gpt_neox",),
    architectures=("gptneox",),
    read=read,
    stored={
        "safetensors": safetensors(
            DEFAULTS, names=NAMES, by_head=True, ignored=BUFFERS, spelling=SPELLING
        ),
        "gguf": gguf(GELU),
    },
)
