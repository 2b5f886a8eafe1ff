"""OPT: a GPT-2 with a ReLU in its MLP and positions that begin at row 2 of their table.

The 350M model differs: its norms come after each sum, none stands before the head, and its
embedding is narrower than its hidden state. There is no GGUF of this architecture.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tokenloop_models.families.common import gpt_like
from tokenloop_models.families.family import Family
from tokenloop_models.families.storing import safetensors
from tokenloop_models.roles import ATTENTION, PLAIN

if TYPE_CHECKING:
    from tokenloop_models.config import DecoderConfig
    from tokenloop_models.families.settings import Settings

NAMES = {
    "embedding": "model.decoder.embed_tokens",
    "positions": "model.decoder.embed_positions",
    "project_in": "model.decoder.project_in",
    "project_out": "model.decoder.project_out",
    "attention_norm": "model.decoder.layers.{}.self_attn_layer_norm",
    "q": "model.decoder.layers.{}.self_attn.q_proj",
    "k": "model.decoder.layers.{}.self_attn.k_proj",
    "v": "model.decoder.layers.{}.self_attn.v_proj",
    "o": "model.decoder.layers.{}.self_attn.out_proj",
    "mlp_norm": "model.decoder.layers.{}.final_layer_norm",
    "up": "model.decoder.layers.{}.fc1",
    "down": "model.decoder.layers.{}.fc2",
    "norm": "model.decoder.final_layer_norm",
    "head": "lm_head",
}
SPELLING = {"intermediate_size": "ffn_dim", "hidden_act": "activation_function"}
DEFAULTS = {
    "hidden_act": "relu",
    "layer_norm_eps": 1e-5,
    "max_position_embeddings": 2048,
    "tie_word_embeddings": True,
}
OFFSET = 2


def read(settings: Settings) -> DecoderConfig:
    """Read the settings."""
    config = gpt_like(settings)
    before = settings.flag("do_layer_norm_before", True)
    last = before and not settings.flag("_remove_final_layer_norm", False)
    settings.neutral("layer_norm_elementwise_affine", True)
    without = () if settings.flag("enable_bias", True) else (*ATTENTION, *PLAIN)
    width = settings.whole("word_embed_proj_dim", config.hidden)
    return replace(
        config,
        arrangement="pre" if before else "after_sum",
        final_norm=last,
        biases=config.biases - {*without},
        embedding_width=None if width == config.hidden else width,
        position_rows=config.position_rows + OFFSET,
        position_offset=OFFSET,
    )


FAMILY = Family(
    name="opt",
    model_types=("opt",),
    read=read,
    stored={
        "safetensors": safetensors(
            DEFAULTS, names=NAMES, prefixes=("model.decoder.", "decoder."), spelling=SPELLING
        )
    },
)
