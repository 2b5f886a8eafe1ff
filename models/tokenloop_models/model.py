"""A loaded model: what a session appends ids to, and reads distributions from."""

from __future__ import annotations

import operator
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from tokenloop_models.cache import KVCache
from tokenloop_models.errors import Cancelled, ModelError, quoted
from tokenloop_models.memory import memory_for
from tokenloop_models.scores import Scorer, Scores
from tokenloop_models.stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from tokenloop_models.config import DecoderConfig
    from tokenloop_models.decoder import Decoder
    from tokenloop_models.tokenizer import Tokenizer

CHUNK_WORK = 2**36
LARGEST_CHUNK, SMALLEST_CHUNK = 256, 64


@dataclass(frozen=True, kw_only=True)
class ModelInfo:
    """What runs, and on what.

    Attributes:
        name: for people.
        family: its architecture.
        device, dtype, threads: what it computes on and in ("cpu", "float32", 2).
        quantisation: of the file ("Q4_1"), ``None`` where it holds plain floats. Weights are
            dequantised to ``dtype``.
        parameters: numbers in its weights; a tied head counts once.
        layers, kv_heads, head_dim, vocab_size, context_length: its size.
        fingerprint: identifies the weights (see ``Checkpoint.fingerprint``).
        precision: ``exact``: products over dequantised weights; ``fast``: over packed ones.
        notices: what a person must know of how it runs; mostly empty.
    """

    name: str
    family: str
    device: str
    dtype: str
    threads: int
    quantisation: str | None
    parameters: int
    layers: int
    kv_heads: int
    head_dim: int
    vocab_size: int
    context_length: int
    fingerprint: str
    precision: str = "exact"
    notices: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Probe:
    """What to watch of a pass.

    Attributes:
        layer_times: how long each layer takes.
    """

    layer_times: bool = True


@dataclass(frozen=True, kw_only=True)
class Timings:
    """Where the time of a pass went, in milliseconds.

    Attributes:
        layers_ms: embedding and layers.
        head_ms: final norm and head, and scores where they were asked for.
        copy_ms: bringing the results to the host.
        total_ms: the whole call.
        layer_ms: each layer's time where a probe asked for it (a prefill's chunks added up).
    """

    layers_ms: float
    head_ms: float
    copy_ms: float
    total_ms: float
    layer_ms: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Output:
    """What a pass answers.

    Attributes:
        logits: of the last position, float32, (vocabulary,), on the host.
        scores: of every new position, where they were asked for.
        timings: of this pass.
    """

    logits: NDArray[np.float32]
    scores: Scores | None
    timings: Timings


class Model:
    """A decoder with its tokenizer. It keeps no state of a text: that is in the caches.

    Attributes:
        tokenizer: of the same checkpoint.
        info: what it is.
        chunk: how many positions a prefill computes between two looks at ``cancelled``.
    """

    def __init__(
        self,
        decoder: Decoder,
        tokenizer: Tokenizer,
        info: ModelInfo,
        config: DecoderConfig,
        *,
        device: torch.device,
        dtype: torch.dtype,
    ) -> None:
        self.tokenizer = tokenizer
        self.info = info
        self.chunk = chunk_size(info.parameters)
        self._decoder = decoder
        self._config = config
        self._device = device
        self._dtype = dtype

    def new_cache(self) -> KVCache:
        """Make an empty KV cache for one text."""
        return KVCache(
            layers=len(self._config.layers),
            kv_heads=self._config.kv_heads,
            head_dim=self._config.head_dim,
            limit=self._config.context_length,
            dtype=self._dtype,
            device=self._device,
            regimes=self._decoder.regimes,
        )

    @torch.inference_mode()
    def forward(
        self,
        ids: Sequence[int],
        cache: KVCache,
        *,
        top: int = 0,
        probe: Probe | None = None,
        progress: Callable[[int, int], None] | None = None,
        cancelled: Callable[[], bool] | None = None,
    ) -> Output:
        """Append ids to a text and score what may come next.

        One id is a decode. Several are a prefill, computed in chunks. What the cache holds must be
        reusable for the longer text (:meth:`KVCache.reusable`): of most models it always is.

        Args:
            ids: of the new positions, from ``cache.length`` on.
            cache: of the text so far; holds the new positions too afterwards.
            top: how many candidates of every new position to keep; 0 for no scores.
            probe: what to watch; costs nothing when absent.
            progress: called with (done, total) positions after each chunk.
            cancelled: asked before each chunk.

        Raises:
            ModelError: an id is none of the vocabulary, there is none, or they don't fit into the
                context or the cache not into memory: nothing was computed, the cache is as it was.
                Or memory ran out in a pass: the cache holds the chunks completed before.
            Cancelled: the cache holds the chunks completed before.
        """
        began = time.perf_counter()
        checked = self._checked(ids)
        cache.reserve(len(checked))
        tokens = torch.tensor(checked, device=self._device)
        following = tokens.roll(-1)
        vocabulary = self._config.vocab_size
        scorer = Scorer(self._decoder.logits, top, vocabulary) if top > 0 else None
        watch = Stopwatch(self._device)
        after_layer = watch.lap if probe is not None and probe.layer_times else None

        total = len(checked)
        for start in range(0, total, self.chunk):
            if cancelled is not None and cancelled():
                raise Cancelled(f"stopped after {start:,} of {total:,} positions")
            stop = min(start + self.chunk, total)
            with memory_for(f"a pass over {stop - start:,} positions"):
                hidden = self._decoder.hidden(tokens[start:stop], cache, after_layer)
                watch.lap("layers")
                if scorer is not None:
                    last = scorer.add(hidden, following[start:stop])
                elif stop == total:
                    last = self._decoder.logits(hidden[-1:])[0]
                watch.lap("head")
            cache.advance(stop - start)
            if progress is not None:
                progress(stop, total)

        logits = last.cpu().numpy()
        scores = None if scorer is None else scorer.scores()
        watch.lap("copy")
        return Output(logits=logits, scores=scores, timings=self._timings(watch, began))

    def _checked(self, ids: Sequence[int]) -> list[int]:
        size = self._config.vocab_size
        if len(ids) == 0:
            raise ModelError("a pass needs at least one id")
        checked = []
        for index, each in enumerate(ids):
            try:
                number = -1 if isinstance(each, bool) else operator.index(each)
            except TypeError:
                number = -1
            if not 0 <= number < size:
                where = f"id {quoted(each)} at place {index:,}"
                raise ModelError(f"{where}: must be a whole number from 0 to {size - 1:,}")
            checked.append(number)
        return checked

    def _timings(self, watch: Stopwatch, began: float) -> Timings:
        laps = watch.milliseconds()
        layer_ms = tuple(laps[index] for index in range(len(self._config.layers)) if index in laps)
        return Timings(
            layers_ms=laps["layers"] + sum(layer_ms),
            head_ms=laps["head"],
            copy_ms=laps["copy"],
            total_ms=(time.perf_counter() - began) * 1e3,
            layer_ms=layer_ms,
        )


def chunk_size(parameters: int) -> int:
    """How many positions a prefill computes at once: fewer the larger the model.

    It depends on the model alone, so that the same text gives the same numbers. 256 positions of
    a 135M model take a third of a second on two cores, and products of 256 rows run within 3 % of
    the speed of longer ones.
    """
    fitting = CHUNK_WORK // max(parameters, 1)
    chunk = LARGEST_CHUNK
    while chunk > max(fitting, SMALLEST_CHUNK):
        chunk //= 2
    return chunk
