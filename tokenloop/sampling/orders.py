"""The stages' names, and the order in which each tradition runs them."""

from __future__ import annotations

from typing import Literal, get_args

Order = Literal["llamacpp", "transformers"]

ORDER_NAMES: tuple[Order, ...] = get_args(Order)

ORDERS: dict[str, tuple[str, ...]] = {
    "llamacpp": (
        "logit_bias",
        "bad_words",
        "min_length",
        "grammar",
        "no_repeat_ngram",
        "penalties",
        "dry",
        "top_n_sigma",
        "top_k",
        "typical_p",
        "top_p",
        "min_p",
        "top_a",
        "epsilon_cutoff",
        "eta_cutoff",
        "xtc",
        "smoothing",
        "dynamic_temperature",
        "temperature",
        "mirostat",
    ),
    "transformers": (
        "logit_bias",
        "penalties",
        "dry",
        "no_repeat_ngram",
        "bad_words",
        "min_length",
        "grammar",
        "smoothing",
        "dynamic_temperature",
        "temperature",
        "top_n_sigma",
        "top_k",
        "top_p",
        "min_p",
        "top_a",
        "typical_p",
        "epsilon_cutoff",
        "eta_cutoff",
        "xtc",
        "mirostat",
    ),
}
"""The two traditions' orders (llama.cpp's default chain; transformers' processors and
warpers). A stage that a tradition does not have stands beside the ones that are like it."""

STAGE_NAMES: frozenset[str] = frozenset(ORDERS["llamacpp"])
