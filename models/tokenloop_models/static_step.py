"""A decode all of whose tensors stay where they are, so that it can be recorded and replayed.

A CUDA graph repeats the same kernels on the same addresses. So nothing of such a step may depend on
its id or position but through a tensor: keys and values go to the row that the position names,
attention looks at a whole window of the cache, and a mask made from the position hides what lies
beyond. Two steps, because their times are told apart: a graph can't be timed from within.

None of this knows CUDA: called as they are, the steps do on a CPU what a graph replays.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from tokenloop_models.landing import Parcel, packed
from tokenloop_models.parts.span import Span, sight_in_window
from tokenloop_models.scores import candidates

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tokenloop_models.decoder import Decoder


class WindowStore:
    """The first positions of a cache, seen as a whole whatever the position."""

    def __init__(self, memory: Sequence[torch.Tensor], position: torch.Tensor) -> None:
        """Keep the memory, a (K and V, kv_heads, window, head_dim) a layer, and the position."""
        self._memory = memory
        self._position = position

    def write(self, layer: int, new: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Put keys and values to the position, and give those of the whole window."""
        stored = self._memory[layer]
        stored.index_copy_(2, self._position, new)
        keys, values = stored.unbind(0)  # each (kv_heads, window, head_dim)
        return keys, values


class LayersStep:
    """Embedding and layers of one position: from the inputs to the last hidden state."""

    def __init__(
        self,
        decoder: Decoder,
        memory: Sequence[torch.Tensor],
        regimes: tuple[int, ...],
        *,
        inputs: torch.Tensor,
        hidden: torch.Tensor,
    ) -> None:
        """Take everything that keeps its place.

        Args:
            decoder: whose layers.
            memory: of the cache (:meth:`KVCache.window`).
            regimes: in what way positions turn.
            inputs: id and position, int64, (2,); read.
            hidden: (1, hidden); written.
        """
        window = memory[0].shape[2]
        self._decoder = decoder
        self._ids, self._position = inputs[:1], inputs[1:]
        self._store = WindowStore(memory, self._position)
        # held here, so that their memory stays when a decoder makes its tables anew
        self._turns = decoder.turns(0, window, regimes)
        self._columns = torch.arange(window, device=inputs.device)
        self._mask_dtype = None if decoder.always_mask else hidden.dtype
        self._hidden = hidden

    def __call__(self) -> None:
        """Run it once."""
        position, columns, dtype = self._position, self._columns, self._mask_dtype
        turns = tuple(each.index_select(0, position) for each in self._turns)
        sights = tuple(
            sight_in_window(columns, position, window, dtype) for window in self._decoder.windows
        )
        span = Span(position, turns, sights)
        self._hidden.copy_(self._decoder.run(self._ids, span, self._store))


class HeadStep:
    """From the hidden state to the logits, and to the best candidates where they are wanted.

    Attributes:
        parcel: of the last run, or of all replays: the logits, (vocabulary,), then the columns of
            ``scores.candidates`` where ``top`` isn't 0.
    """

    parcel: Parcel

    def __init__(self, decoder: Decoder, hidden: torch.Tensor, top: int) -> None:
        """Take what keeps its place: ``hidden``, (1, hidden), is read."""
        self._decoder = decoder
        self._hidden = hidden
        self._top = top

    def __call__(self) -> None:
        """Run it once."""
        logits = self._decoder.logits(self._hidden)  # (1, vocabulary)
        columns = candidates(logits, self._top) if self._top else ()
        self.parcel = packed([logits[0], *columns])
