"""Causal self-attention with grouped query heads over a KV cache."""

from __future__ import annotations

import math
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import torch
import torch.nn.functional as F  # noqa: N812 - the name that every torch reader knows

from tokenloop_models.parts.linear import Viewed
from tokenloop_models.parts.rope import pairs_of, turn_

if TYPE_CHECKING:
    from tokenloop_models.parts.linear import Product
    from tokenloop_models.parts.norms import QueryKeyNorm
    from tokenloop_models.parts.span import Span, Store


BLOCK = 256
"""So many positions look at once on a CPU: not at what comes after the last of them."""
NOTHING = torch.zeros(1)
"""``baddbmm`` asks for something to add; with beta = 0 it is not read."""


class Heads:
    """Queries, keys and values of some positions: views on the product that made them.

    Attributes:
        queries: (positions, heads, dim).
        queries_keys: (positions, heads + kv_heads, dim).
        pairs: of those, what positions turn (``rope.pairs_of``); ``None`` where they don't.
        keys_values: (K and V, kv_heads, positions, dim).
    """

    __slots__ = ("keys_values", "pairs", "queries", "queries_keys")

    def __init__(
        self, rows: torch.Tensor, heads: int, kv_heads: int, dim: int, *, turned: bool
    ) -> None:
        """Look at rows of all queries, then keys, then values."""
        count = rows.shape[0]
        each = rows.view(count, heads + 2 * kv_heads, dim)
        self.queries = each[:, :heads]
        self.queries_keys = each[:, : heads + kv_heads]
        self.pairs = pairs_of(self.queries_keys) if turned else None
        self.keys_values = each[:, heads:].view(count, 2, kv_heads, dim).permute(1, 2, 0, 3)


class Attention:
    """softmax(scale · q kᵀ) v, each group of query heads sharing one key/value head.

    Queries, keys and values come from one product (Ainslie et al., 2023, for the groups).
    """

    __slots__ = ("_qkv", "cap", "dim", "heads", "kv_heads", "layer", "norm", "output", "scale",
                 "sight", "turn")  # fmt: skip

    def __init__(
        self,
        layer: int,
        qkv: Product,
        output: Product,
        *,
        heads: int,
        kv_heads: int,
        dim: int,
        norm: QueryKeyNorm | None = None,
        turn: int | None = None,
        sight: int = 0,
        scale: float | None = None,
        cap: float | None = None,
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
            norm: of queries and keys, before they turn.
            turn: which of the span's turns; ``None``: positions don't turn them.
            sight: which of the span's sights.
            scale: what scores are multiplied with; 1 / √dim by default.
            cap: scores are squashed to cap · tanh(score / cap) (Gemma 2).
        """
        self.layer = layer
        look = partial(Heads, heads=heads, kv_heads=kv_heads, dim=dim, turned=turn is not None)
        self._qkv = Viewed(qkv, look)
        self.output = output
        self.heads = heads
        self.kv_heads = kv_heads
        self.dim = dim
        self.norm = norm
        self.turn = turn
        self.sight = sight
        self.scale = 1 / math.sqrt(dim) if scale is None else scale
        self.cap = cap

    def __call__(self, x: torch.Tensor, span: Span, cache: Store) -> torch.Tensor:
        """Attend from the span's positions to those that they see.

        The keys and values of the span are in the cache afterwards.

        Returns:
            Of the positions that the span asks for, (asked, hidden).
        """
        new = self._qkv(x)
        if self.norm is not None:
            self.norm(new.queries_keys)
        if self.turn is not None and new.pairs is not None:
            turn_(new.pairs, span.turns[self.turn])
        keys, values = cache.write(self.layer, new.keys_values)  # (kv_heads, stop, dim)
        sight = span.sights[self.sight]
        if sight.first:
            keys, values = keys[:, sight.first :], values[:, sight.first :]
        queries, mask = span.asked(new.queries), sight.mask
        if mask is not None:
            mask = span.asked(mask)
        if self.cap is not None:
            mixed = self._capped(queries, keys, values, mask, self.cap)
        elif queries.shape[0] == 1:
            mixed = self._one(queries, keys, values, mask)
        elif queries.is_cpu:
            mixed = self._several(queries, keys, values, mask)
        else:
            mixed = self._several_in_groups(queries, keys, values, mask)
        return self.output(mixed)

    def _one(
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        mask: torch.Tensor | None,
    ) -> torch.Tensor:
        """One position sees the same for all heads: those of a group are rows of their key head."""
        rows = queries.view(self.kv_heads, -1, self.dim)  # (kv_heads, group, dim)
        if mask is None and queries.is_cpu and queries.dtype == torch.float32:
            # a 135M model's heads: 10 µs at the beginning of a text, torch's own attention 13
            scores = torch.baddbmm(NOTHING, rows, keys.mT, beta=0, alpha=self.scale)
            mixed = torch.bmm(scores.softmax(dim=-1), values)
        else:
            mixed = F.scaled_dot_product_attention(
                rows[None], keys[None], values[None], mask, scale=self.scale
            )
        return mixed.reshape(1, self.heads * self.dim)  # CUDA's kernels lay heads out otherwise

    def _several(
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        mask: torch.Tensor | None,
    ) -> torch.Tensor:
        """Several positions see what came before them, and themselves.

        torch's kernel also multiplies what the mask then hides. Block by block, most of that is
        never looked at.
        """
        count = queries.shape[0]
        before = keys.shape[1] - count
        blocks = [
            F.scaled_dot_product_attention(
                queries[first:last].transpose(0, 1)[None],  # (1, heads, block, dim)
                keys[None, :, : before + last],
                values[None, :, : before + last],
                attn_mask=None if mask is None else mask[first:last, : before + last],
                is_causal=mask is None,
                enable_gqa=self.heads != self.kv_heads,
                scale=self.scale,
            )[0].transpose(0, 1)
            for first, last in pairwise([*range(0, count, BLOCK), count])
        ]
        return torch.cat(blocks).view(count, self.heads * self.dim)

    def _several_in_groups(
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        mask: torch.Tensor | None,
    ) -> torch.Tensor:
        """The same, each key/value head a batch of its own that its group's heads look at.

        CUDA's fast kernels take a mask, or float32, only where no heads are shared; this way none
        are, and nothing is copied. On a CPU the masked one is slower so.
        """
        count, group = queries.shape[0], self.heads // self.kv_heads
        mixed = F.scaled_dot_product_attention(
            queries.view(count, self.kv_heads, group, self.dim).permute(1, 2, 0, 3),
            keys[:, None].expand(-1, group, -1, -1),  # (kv_heads, group, stop, dim)
            values[:, None].expand(-1, group, -1, -1),
            attn_mask=mask,
            is_causal=mask is None,
            scale=self.scale,
        )  # (kv_heads, group, positions, dim)
        return mixed.permute(2, 0, 1, 3).reshape(count, self.heads * self.dim)

    def _capped(
        self,
        queries: torch.Tensor,
        keys: torch.Tensor,
        values: torch.Tensor,
        mask: torch.Tensor | None,
        cap: float,
    ) -> torch.Tensor:
        """The same written out: no ready-made attention squashes its scores."""
        count = queries.shape[0]
        rows = queries.view(count, self.kv_heads, -1, self.dim).permute(1, 2, 0, 3)
        rows = rows.reshape(self.kv_heads, -1, self.dim)  # (kv_heads, group · positions, dim)
        scores = torch.bmm(rows, keys.mT).float()
        scores = scores.mul_(self.scale / cap).tanh_().mul_(cap)
        if mask is not None:
            by_head = scores.view(self.kv_heads, -1, *mask.shape)
            by_head.masked_fill_(~mask, float("-inf"))
        mixed = torch.bmm(scores.softmax(dim=-1).to(values.dtype), values)
        mixed = mixed.view(self.heads, count, self.dim)
        return mixed.transpose(0, 1).reshape(count, self.heads * self.dim)
