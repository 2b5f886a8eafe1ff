"""The stages' names, and the order in which each tradition runs them."""

from __future__ import annotations

from typing import Literal, get_args

Order = Literal["llamacpp", "transformers"]

ORDER_NAMES: tuple[Order, ...] = get_args(Order)

ORDERS: dict[str, tuple[str, ...]] = {
    "llamacpp": (
        "logit_bias",
        "penalties",
        "top_k",
        "top_p",
        "min_p",
        "temperature",
        "mirostat",
    ),
    "transformers": (
        "logit_bias",
        "penalties",
        "temperature",
        "top_k",
        "top_p",
        "min_p",
        "mirostat",
    ),
}
"""The two traditions' orders (llama.cpp's default chain; transformers' processors and
warpers). A stage that a tradition does not have stands beside the ones that are like it."""

STAGE_NAMES: frozenset[str] = frozenset(ORDERS["llamacpp"])
