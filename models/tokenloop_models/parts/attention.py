"""Causal self-attention with grouped query heads over a KV cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F  # noqa: N812 - the name that every torch reader knows

from tokenloop_models.parts.rope import rotate_

if TYPE_CHECKING:
    from tokenloop_models.cache import KVCache
    from tokenloop_models.parts.linear import Linear


@dataclass(frozen=True, slots=True)
class Span:
    """The new positions of a pass, and what all layers need to know of them.

    Attributes:
        start, stop: the positions are [start, stop).
        turns: their rotary turns, complex64, (positions, 1, pairs).
        mask: which positions each may see, bool, (positions, stop); ``None`` where that follows
            from the shape: a single position sees all, a span from 0 is a plain triangle.
    """

    start: int
    stop: int
    turns: torch.Tensor
    mask: torch.Tensor | None


def make_span(start: int, stop: int, turns: torch.Tensor) -> Span:
    """Describe the positions [start, stop)."""
    mask = None
    if start > 0 and stop - start > 1:
        every = torch.ones(stop - start, stop, dtype=torch.bool, device=turns.device)
        mask = every.tril(diagonal=start)
    return Span(start, stop, turns, mask)


class Attention:
    """softmax(q kᵀ / √dim) v, each group of query heads sharing one key/value head.

    Queries, keys and values come from one product (Ainslie et al., 2023, for the groups).
    """

    __slots__ = ("dim", "heads", "kv_heads", "layer", "output", "qkv")

    def __init__(
        self, layer: int, qkv: Linear, output: Linear, *, heads: int, kv_heads: int, dim: int
    ) -> None:
        """Take the products.

        Args:
            layer: which layer of the cache holds its keys and values.
            qkv: ((heads + 2 · kv_heads) · dim, hidden): queries, then keys, then values; the
                features of a rotary pair side by side.
            output: (hidden, heads · dim).
            heads: query heads.
            kv_heads: key/value heads.
            dim: features a head.
        """
        self.layer = layer
        self.qkv = qkv
        self.output = output
        self.heads = heads
        self.kv_heads = kv_heads
        self.dim = dim

    def __call__(self, x: torch.Tensor, span: Span, cache: KVCache) -> torch.Tensor:
        """Attend from the span's positions to all up to them: (positions, hidden) → the same."""
        count = x.shape[0]
        qkv = self.qkv(x).view(count, self.heads + 2 * self.kv_heads, self.dim)
        rotate_(qkv[:, : self.heads + self.kv_heads], span.turns)
        new = qkv[:, self.heads :].view(count, 2, self.kv_heads, self.dim)
        keys, values = cache.write(self.layer, new, span.start)  # (1, kv_heads, stop, dim)
        queries = qkv[:, : self.heads]
        mixed = (
            self._one(queries, keys, values)
            if count == 1
            else (self._several(queries, keys, values, span.mask))
        )
        return self.output(mixed)

    def _one(self, queries: torch.Tensor, keys: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        """One position sees everything: its query heads are rows of their key/value head."""
        rows = queries.view(1, self.kv_heads, -1, self.dim)  # (1, kv_heads, group, dim)
        mixed = F.scaled_dot_product_attention(rows, keys, values)
        return mixed.reshape(1, self.heads * self.dim)

    def _several(
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        mask: torch.Tensor | None,
    ) -> torch.Tensor:
        """Several positions see what came before them, and themselves."""
        mixed = F.scaled_dot_product_attention(
            queries.transpose(0, 1)[None],  # (1, heads, positions, dim)
            keys,
            values,
            attn_mask=mask,
            is_causal=mask is None,
            enable_gqa=self.heads != self.kv_heads,
        )
        return mixed[0].transpose(0, 1).reshape(-1, self.heads * self.dim)
