"""What weights a decoder is made of: each by its role, whatever a file calls it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tokenloop_models.config import DecoderConfig, LayerConfig

Shape = tuple[int, ...]

NORMS = {
    "pre": ("attention_norm", "mlp_norm"),
    "sandwich": ("attention_norm", "attention_post_norm", "mlp_norm", "mlp_post_norm"),
    "post": ("attention_post_norm", "mlp_post_norm"),
    "after_sum": ("attention_norm", "mlp_norm"),
    "parallel": ("attention_norm", "mlp_norm"),
    "parallel_shared": ("attention_norm",),
}
"""The norms of each arrangement (``config.Arrangement``)."""

ATTENTION = ("q", "k", "v", "o")
GATED = ("gate", "up", "down")
PLAIN = ("up", "down")
EVERYTHING = frozenset((*ATTENTION, *GATED, *NORMS["sandwich"], "norm"))
"""All that can have a bias in the families that give one to every product and every norm."""


def roles_once(config: DecoderConfig) -> dict[str, Shape]:
    """Role → shape of the weights that a decoder has once, in torch's order (rows, columns)."""
    width = config.embedding_width or config.hidden
    roles: dict[str, Shape] = {"embedding": (config.vocab_size, width)}
    if config.embedding_width is not None:
        roles |= {"project_in": (config.hidden, width), "project_out": (width, config.hidden)}
    if config.position_rows:
        roles["positions"] = (config.position_rows, config.hidden)
    if config.final_norm:
        roles["norm"] = (config.hidden,)
    if not config.tied_head:
        roles["head"] = (config.vocab_size, width)
    return roles


def roles_of_layer(config: DecoderConfig, layer: LayerConfig) -> dict[str, Shape]:
    """Role → shape of one layer's weights; an expert's are stacked: (experts, rows, columns)."""
    hidden = config.hidden
    roles: dict[str, Shape] = dict.fromkeys(NORMS[config.arrangement], (hidden,))
    wide, narrow = config.heads * config.head_dim, config.kv_heads * config.head_dim
    roles |= {"q": (wide, hidden), "k": (narrow, hidden), "v": (narrow, hidden)}
    roles["o"] = (hidden, wide)
    if config.qk_norm is not None:
        of_query, of_key = {
            "head": ((config.head_dim,), (config.head_dim,)),
            "each_head": ((config.heads, config.head_dim), (config.kv_heads, config.head_dim)),
            "across_heads": ((wide,), (narrow,)),
        }[config.qk_norm]
        roles |= {"q_norm": of_query, "k_norm": of_key}
    return roles | _mlp_roles(config, layer)


def _mlp_roles(config: DecoderConfig, layer: LayerConfig) -> dict[str, Shape]:
    hidden, inside = config.hidden, layer.intermediate
    shapes = {"gate": (inside, hidden), "up": (inside, hidden), "down": (hidden, inside)}
    roles: dict[str, Shape] = {role: shapes[role] for role in (GATED if config.gated else PLAIN)}
    if layer.experts is None:
        return roles
    stacked = {f"expert_{role}": (layer.experts.count, *shape) for role, shape in roles.items()}
    return {"router": (layer.experts.count, hidden), **stacked}
