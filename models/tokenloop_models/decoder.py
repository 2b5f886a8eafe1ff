"""The decoder: embedding, layers, norm, head, put together from a family's settings and weights."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch.nn.functional as F  # noqa: N812 - the name that every torch reader knows

from tokenloop_models.parts.attention import Attention, Span, make_span
from tokenloop_models.parts.linear import Linear
from tokenloop_models.parts.mlp import GatedMLP
from tokenloop_models.parts.norms import RMSNorm
from tokenloop_models.parts.rope import RotaryTable

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    from tokenloop_models.cache import KVCache
    from tokenloop_models.config import DecoderConfig
    from tokenloop_models.weights import Weights


class Layer:
    """x + attention(norm(x)), then x + mlp(norm(x))."""

    __slots__ = ("attention", "attention_norm", "mlp", "mlp_norm")

    def __init__(self, index: int, config: DecoderConfig, weights: Weights) -> None:
        """Read the layer's weights."""
        self.attention_norm = RMSNorm(weights.one("attention_norm", index), config.norm_eps)
        self.attention = Attention(
            index,
            _product(weights, ("q", "k", "v"), index),
            _product(weights, ("o",), index),
            heads=config.heads,
            kv_heads=config.kv_heads,
            dim=config.head_dim,
        )
        self.mlp_norm = RMSNorm(weights.one("mlp_norm", index), config.norm_eps)
        gate_up = _product(weights, ("gate", "up"), index)
        self.mlp = GatedMLP(gate_up, _product(weights, ("down",), index), config.activation)

    def __call__(self, hidden: torch.Tensor, span: Span, cache: KVCache) -> torch.Tensor:
        """(positions, hidden) → (positions, hidden)."""
        hidden = hidden + self.attention(self.attention_norm(hidden), span, cache)
        return hidden + self.mlp(self.mlp_norm(hidden))


class Decoder:
    """A causal language model: ids in, logits out, keys and values into a cache."""

    def __init__(self, config: DecoderConfig, weights: Weights, device: torch.device) -> None:
        """Read all weights."""
        self.embedding = weights.one("embedding")  # (vocabulary, hidden)
        self.layers = [Layer(index, config, weights) for index in range(config.layers)]
        self.norm = RMSNorm(weights.one("norm"), config.norm_eps)
        self.head = Linear(self.embedding if config.tied_head else weights.one("head"))
        self.rotary = RotaryTable(config.rope_frequencies, config.context_length, device)

    def hidden(
        self, ids: torch.Tensor, cache: KVCache, after_layer: Callable[[int], None] | None = None
    ) -> torch.Tensor:
        """Run the layers over new positions; the cache holds them once it is told to advance.

        Args:
            ids: int64, (positions,).
            cache: with room for them.
            after_layer: called with a layer's number when it is done.

        Returns:
            (positions, hidden).
        """
        start, stop = cache.length, cache.length + ids.shape[0]
        span = make_span(start, stop, self.rotary.turns(start, stop))
        hidden = F.embedding(ids, self.embedding)
        for index, layer in enumerate(self.layers):
            hidden = layer(hidden, span, cache)
            if after_layer is not None:
                after_layer(index)
        return hidden

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """Score all candidates: (rows, hidden) → float32, (rows, vocabulary)."""
        return self.head(self.norm(hidden)).float()


def _product(weights: Weights, some: tuple[str, ...], layer: int) -> Linear:
    return Linear(weights.joined(some, layer), weights.joined_bias(some, layer))
