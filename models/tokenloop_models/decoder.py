"""The decoder: ids in, logits out, keys and values into a cache."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tokenloop_models.assembly import Assembly
from tokenloop_models.parts.attention import BLOCK
from tokenloop_models.parts.span import Span, sight

if TYPE_CHECKING:
    from collections.abc import Callable

    import torch

    from tokenloop_models.cache import KVCache
    from tokenloop_models.config import DecoderConfig
    from tokenloop_models.parts.span import Store
    from tokenloop_models.products import Products
    from tokenloop_models.weights import Weights


class Decoder:
    """A causal language model of any family: what it is made of, its config says.

    Attributes:
        tables: the rotary tables that layers turn by.
        windows: the windows that they look through.
        always_mask: whether several positions, or a static step, need a mask of true and false.
        needs_host: why a pass can't run without the host looking at numbers, or ``None``.
    """

    def __init__(
        self, config: DecoderConfig, weights: Weights, products: Products, device: torch.device
    ) -> None:
        """Read all weights."""
        parts = Assembly(config, weights, products, device)
        self.embedding = parts.embedding()
        self.layers = [parts.layer(index) for index in range(len(config.layers))]
        self.head = parts.head()
        self.tables = parts.tables
        self.windows = parts.windows
        self.always_mask = config.attention_cap is not None
        mixture = any(layer.experts for layer in config.layers)
        self.needs_host = "its experts are chosen on the host" if mixture else None
        self._device = device

    def hidden(
        self,
        ids: torch.Tensor,
        cache: KVCache,
        after_layer: Callable[[int], None] | None = None,
        *,
        every: bool = True,
    ) -> torch.Tensor:
        """Run the layers over new positions; the cache holds them once it is told to advance.

        Args:
            ids: int64, (positions,).
            cache: with room for them.
            after_layer: called with a layer's number when it is done.
            every: whether the hidden states of all positions are wanted, or the last one's.

        Returns:
            (positions, hidden), or (1, hidden).
        """
        span = self._span(cache.length, cache.length + ids.shape[0], cache.regimes)
        return self.run(ids, span, cache, after_layer, every=every)

    def run(
        self,
        ids: torch.Tensor,
        span: Span,
        store: Store,
        after_layer: Callable[[int], None] | None = None,
        *,
        every: bool = True,
    ) -> torch.Tensor:
        """Run the layers over the positions of a span, wherever keys and values are kept."""
        hidden = self.embedding(ids, span.where)
        last = len(self.layers) - 1
        for index, layer in enumerate(self.layers):
            if index == last and not every:
                span = replace(span, last_alone=True)
            hidden = layer(hidden, span, store)
            if after_layer is not None:
                after_layer(index)
        return hidden

    def logits(self, hidden: torch.Tensor) -> torch.Tensor:
        """Score all candidates: (rows, hidden) → float32, (rows, vocabulary)."""
        return self.head(hidden)

    def regimes(self, length: int) -> tuple[int, ...]:
        """In what way each rotary table turns a text of a length (``rope.Frequencies``)."""
        return tuple(table.frequencies.regime(length) for table in self.tables)

    def turns(self, start: int, stop: int, regimes: tuple[int, ...]) -> tuple[torch.Tensor, ...]:
        """The turns of positions [start, stop) in each rotary table."""
        tables = zip(self.tables, regimes, strict=True)
        return tuple(table.turns(start, stop, regime) for table, regime in tables)

    def _span(self, start: int, stop: int, regimes: tuple[int, ...]) -> Span:
        in_blocks = self._device.type == "cpu" and stop - start > BLOCK
        always = self.always_mask or in_blocks
        sights = tuple(
            sight(start, stop, window, self._device, always_mask=always) for window in self.windows
        )
        return Span(slice(start, stop), self.turns(start, stop, regimes), sights)
