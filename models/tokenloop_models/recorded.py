"""Decodes that were recorded: when a recording can be replayed, and when it takes a new one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import torch

from tokenloop_models import cache as caches
from tokenloop_models.static_step import HeadStep, LayersStep

if TYPE_CHECKING:
    from tokenloop_models.cache import KVCache
    from tokenloop_models.decoder import Decoder
    from tokenloop_models.landing import Parcel

Replay = Callable[[], None]
Recorder = Callable[[Replay], Replay]
"""Records a step and gives what repeats it. It may run the step; running it again does no harm."""
HEADS_KEPT = 4


@dataclass
class _OfCache:
    """What was recorded over a cache's memory, one replay a window."""

    capacity: int
    regimes: tuple[int, ...]
    replays: dict[int, Replay] = field(default_factory=dict)


class RecordedDecode:
    """Decodes one id at a time by replaying what was recorded.

    The layers' recording belongs to a cache: it holds the addresses of its memory. There is one a
    window (:func:`window_for`), so that a short text doesn't pay for looking at the whole cache.
    They are recorded anew when the cache has grown, which moves its memory, or when its keys turn
    in another way. The head's recording serves all caches; there is one for each number of
    candidates asked for.
    """

    def __init__(
        self,
        decoder: Decoder,
        record: Recorder,
        *,
        hidden: int,
        dtype: torch.dtype,
        device: torch.device,
    ) -> None:
        """Record nothing yet.

        Args:
            decoder: whose passes.
            record: how.
            hidden: features of its hidden state.
            dtype: of that.
            device: where it runs.
        """
        self._decoder = decoder
        self._record = record
        self._next = torch.zeros(2, dtype=torch.int64, pin_memory=device.type == "cuda")
        self._inputs = torch.zeros(2, dtype=torch.int64, device=device)  # id, position
        self._hidden = torch.zeros(1, hidden, dtype=dtype, device=device)
        self._of_caches: WeakKeyDictionary[KVCache, _OfCache] = WeakKeyDictionary()
        self._heads: dict[int, tuple[Replay, HeadStep]] = {}

    def begin(self, token: int, cache: KVCache, top: int) -> bool:
        """Hand over the id of the next position, and record what is missing.

        Args:
            token: its id.
            cache: of the text.
            top: how many candidates are wanted.

        Returns:
            Whether something was recorded.

        Raises:
            ModelError: there is no memory for the cache's window.
            RuntimeError: recording failed.
        """
        # the wait that ends a pass is why the device has read what is overwritten here
        self._next[0], self._next[1] = token, cache.length
        self._inputs.copy_(self._next, non_blocking=True)
        window = window_for(cache.length + 1, cache.limit)
        cache.widen(window)
        cache.clear(cache.length + 1)
        held = self._held(cache)
        missing = window not in held.replays or top not in self._heads
        if window not in held.replays:
            held.replays[window] = self._record(self._layers_step(cache, window))
        if top not in self._heads:
            if len(self._heads) == HEADS_KEPT:
                del self._heads[next(iter(self._heads))]
            head = HeadStep(self._decoder, self._hidden, top)
            self._heads[top] = self._record(head), head
        return missing

    def layers(self, cache: KVCache) -> None:
        """Run the layers over the position that was handed over."""
        window = window_for(cache.length + 1, cache.limit)
        self._of_caches[cache].replays[window]()

    def head(self, top: int) -> Parcel:
        """Score the candidates after it: see ``HeadStep.parcel``."""
        replay, step = self._heads[top]
        replay()
        return step.parcel

    def _held(self, cache: KVCache) -> _OfCache:
        """What was recorded over a cache as it is now."""
        held = self._of_caches.get(cache)
        if held is None or (held.capacity, held.regimes) != (cache.capacity, cache.regimes):
            held = self._of_caches[cache] = _OfCache(cache.capacity, cache.regimes)
        return held

    def _layers_step(self, cache: KVCache, window: int) -> LayersStep:
        return LayersStep(
            self._decoder,
            cache.window(window),
            cache.regimes,
            inputs=self._inputs,
            hidden=self._hidden,
        )


def window_for(positions: int, limit: int) -> int:
    """How many positions a step looks at that has so many, at most all of the context.

    Whole blocks; from 1,024 positions on, four windows to a doubling: a step looks at a quarter
    more than it has at most, and a text of 8,192 positions is recorded 16 times in all. It depends
    on nothing else, so that the same text gives the same bits whatever was before.
    """
    step = max(caches.BLOCK, (1 << (positions - 1).bit_length()) // 8)
    return min(-(-positions // step) * step, limit)
