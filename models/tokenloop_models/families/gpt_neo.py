"""GPT-Neo, TinyStories: a GPT-2 whose every other layer slides, and whose scores have no scale.

No 1 / √head_dim: the first release left it to the weights. Queries, keys and values have no bias.
There is no GGUF of this architecture.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tokenloop_models.families.common import gpt_like
from tokenloop_models.families.family import Family
from tokenloop_models.families.storing import safetensors

if TYPE_CHECKING:
    from tokenloop_models.config import DecoderConfig
    from tokenloop_models.families.settings import Settings

NAMES = {
    "embedding": "transformer.wte",
    "positions": "transformer.wpe",
    "attention_norm": "transformer.h.{}.ln_1",
    "q": "transformer.h.{}.attn.attention.q_proj",
    "k": "transformer.h.{}.attn.attention.k_proj",
    "v": "transformer.h.{}.attn.attention.v_proj",
    "o": "transformer.h.{}.attn.attention.out_proj",
    "mlp_norm": "transformer.h.{}.ln_2",
    "up": "transformer.h.{}.mlp.c_fc",
    "down": "transformer.h.{}.mlp.c_proj",
    "norm": "transformer.ln_f",
    "head": "lm_head",
}
SPELLING = {
    "num_hidden_layers": "num_layers",
    "num_attention_heads": "num_heads",
    "layer_norm_eps": "layer_norm_epsilon",
    "hidden_act": "activation_function",
}
DEFAULTS = {
    "hidden_act": "gelu_new",
    "layer_norm_eps": 1e-5,
    "max_position_embeddings": 2048,
    "window_size": 256,
    "tie_word_embeddings": True,
}
GLOBAL, LOCAL = "global", "local"


def read(settings: Settings) -> DecoderConfig:
    """Read the settings."""
    config = gpt_like(settings)
    config = replace(config, biases=config.biases - {"q", "k", "v"})
    kinds = _kinds(settings, len(config.layers))
    window = settings.whole("window_size")
    return config.each_layer(
        lambda index, layer: replace(
            layer, attention_scale=1.0, window=window if kinds[index] == LOCAL else None
        )
    )


def _kinds(settings: Settings, count: int) -> list[str]:
    """Which layers slide: a list of them, or a pattern with a number of repeats, several times."""
    patterns = settings.get("attention_types")
    listed = settings.words("attention_layers", (GLOBAL, LOCAL), count)
    if listed is not None:
        return listed
    try:
        kinds = [kind for pattern, repeats in patterns for kind in list(pattern) * int(repeats)]
    except (TypeError, ValueError):
        kinds = []
    if len(kinds) != count or not set(kinds) <= {GLOBAL, LOCAL}:
        allowed = f"must be [[pattern, repeats], …] for {count:,} layers, each {GLOBAL} or {LOCAL}"
        raise settings.refused("attention_types", allowed)
    return kinds


FAMILY = Family(
    name="gpt_neo",
    model_types=("gpt_neo",),
    read=read,
    stored={
        "safetensors": safetensors(
            DEFAULTS,
            names=NAMES,
            prefixes=("transformer.", ""),
            ignored=(r"(transformer\.)?h\.\d+\.attn\.attention\.(masked_)?bias",),
            spelling=SPELLING,
        )
    },
)
