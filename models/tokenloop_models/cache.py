"""The KV cache: keys and values of the positions seen so far."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from tokenloop_models.errors import ModelError
from tokenloop_models.memory import memory_for
from tokenloop_models.sizes import memory_size

if TYPE_CHECKING:
    from collections.abc import Callable

BLOCK = 256


class KVCache:
    """Keys and values of every layer, for positions [0, length).

    It grows in blocks of 256 positions and doubles at least, so that all copying together costs
    no more than twice the final size. What lies beyond ``length`` is never read. Positions that
    have left a sliding window stay, so that a rewind can bring them back.

    Attributes:
        length: positions held.
        limit: positions that it may hold (the model's context length).
        regimes: in what way the keys held are turned (``rope.Frequencies``), one a table.
        bytes_per_position: layers × KV heads × head dim × 2 (K, V) × bytes of the dtype.
    """

    def __init__(
        self,
        *,
        layers: int,
        kv_heads: int,
        head_dim: int,
        limit: int,
        dtype: torch.dtype,
        device: torch.device,
        regimes: Callable[[int], tuple[int, ...]],
    ) -> None:
        """Start empty.

        Args:
            layers: of the decoder, as all that follow.
            kv_heads: of each layer.
            head_dim: features a head.
            limit: the most positions.
            dtype: of keys and values.
            device: where they lie.
            regimes: in what way the keys of a text of some length are turned: see
                :meth:`reusable`.
        """
        self.length = 0
        self.limit = limit
        self.regimes: tuple[int, ...] = ()
        self._regimes_of = regimes
        self._capacity = 0
        self._touched = 0  # positions from here on were never written: they are 0
        # (layers, K and V, kv_heads, capacity, head_dim)
        self._memory = torch.empty(layers, 2, kv_heads, 0, head_dim, dtype=dtype, device=device)
        self._opened: tuple[int, int] | None = None  # the span that the views below are of
        self._new: tuple[torch.Tensor, ...] = ()
        self._seen: list[tuple[torch.Tensor, torch.Tensor]] = []
        self.bytes_per_position = layers * kv_heads * head_dim * 2 * dtype.itemsize

    @property
    def dtype(self) -> str:
        """What keys and values are kept in ("float32")."""
        return str(self._memory.dtype).removeprefix("torch.")

    @property
    def nbytes(self) -> int:
        """Bytes of the positions held."""
        return self.length * self.bytes_per_position

    @property
    def allocated_bytes(self) -> int:
        """Bytes reserved: the blocks that the positions held have needed so far."""
        return self._capacity * self.bytes_per_position

    @property
    def capacity(self) -> int:
        """Positions that there is memory for: when it changes, all memory lies elsewhere."""
        return self._capacity

    def can_rewind_to(self, length: int) -> bool:
        """Whether :meth:`truncate` can go back to this many positions: every one it has held."""
        return 0 <= length <= self.length

    def reusable(self, length: int) -> int:
        """How many of the positions held are right for a text of ``length``: all, or none.

        Some ways of scaling rotary positions (longrope, dynamic) turn all keys of a long text in
        another way than those of a short one. A text that grows or shrinks across that length is
        computed anew: ``truncate(reusable(length))`` first.
        """
        return self.length if self._regimes_of(length) == self.regimes else 0

    def truncate(self, length: int) -> None:
        """Forget the positions from ``length`` on; their memory is kept for new ones.

        Raises:
            ValueError: ``length`` is negative or more than the cache holds.
        """
        if not self.can_rewind_to(length):
            raise ValueError(f"can't truncate a cache of {self.length} positions to {length}")
        self.length = length

    def reserve(self, count: int) -> None:
        """Make room for ``count`` more positions.

        Raises:
            ModelError: they don't fit into the context, or into the machine's memory, or what is
                held is not reusable for a text that long.
        """
        needed = self.length + count
        if needed > self.limit:
            raise ModelError(f"context full at {self.limit:,} positions")
        if self.length > self.reusable(needed):
            raise ModelError(f"the cache's keys are not those of a text of {needed:,} positions")
        self.regimes = self._regimes_of(needed)
        if needed > self._capacity:
            blocks = -(-needed // BLOCK) * BLOCK
            self._grow(min(max(blocks, 2 * self._capacity), self.limit))
        self._touched = max(self._touched, needed)

    def widen(self, capacity: int) -> None:
        """Have memory for at least so many positions, at most the limit.

        Raises:
            ModelError: there is not enough memory.
        """
        if capacity > self._capacity:
            self._grow(min(max(capacity, 2 * self._capacity), self.limit))

    def window(self, size: int) -> list[torch.Tensor]:
        """Lay the memory of the first positions open, for a step whose addresses never change.

        Args:
            size: how many positions, at most the capacity.

        Returns:
            One view a layer, (K and V, kv_heads, size, head_dim): the cache's memory as long as
            :attr:`capacity` stays what it is.
        """
        return list(self._memory[:, :, :, :size].unbind(0))

    def clear(self, first: int) -> None:
        """Make the memory of positions from ``first`` on 0 where a rewind has left something.

        A step that looks at a whole window gives a masked position the weight 0, and 0 times an
        infinity that was once computed there is not 0.
        """
        if self._touched > first:
            self._memory[:, :, :, first : self._touched] = 0
            self._touched = first

    def write(self, layer: int, new: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Put keys and values behind those of a layer; they count once :meth:`advance` ran.

        Args:
            layer: which one.
            new: (K and V, kv_heads, positions, head_dim).

        Returns:
            Keys and values of the positions up to the new ones, each (kv_heads, stop, head_dim):
            views of the cache.
        """
        count = new.shape[2]
        if self._opened != (self.length, count):
            self._open(count)
        self._new[layer].copy_(new)
        return self._seen[layer]

    def advance(self, count: int) -> None:
        """Count positions that every layer has written."""
        self.length += count

    def _open(self, count: int) -> None:
        """Make the views of a span for all layers at once: made in each write they took 0.2 ms."""
        start, stop = self.length, self.length + count
        self._new = self._memory[:, :, :, start:stop].unbind(0)
        keys, values = self._memory[:, :, :, :stop].unbind(1)
        self._seen = list(zip(keys.unbind(), values.unbind(), strict=True))
        self._opened = start, count

    def _grow(self, capacity: int) -> None:
        size = memory_size(capacity * self.bytes_per_position)
        with memory_for(f"a KV cache of {capacity:,} positions ({size})"):
            layers, kinds, kv_heads, _, head_dim = self._memory.shape
            larger = self._memory.new_zeros(layers, kinds, kv_heads, capacity, head_dim)
        larger[:, :, :, : self.length] = self._memory[:, :, :, : self.length]
        self._memory = larger
        self._opened, self._new, self._seen = None, (), []  # or they would keep the old memory
        self._capacity = capacity
        self._touched = self.length
