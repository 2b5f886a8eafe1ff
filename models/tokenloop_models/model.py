"""A loaded model: what a session appends ids to, and reads distributions from."""

from __future__ import annotations

import operator
import time
import warnings
from dataclasses import replace
from threading import RLock
from typing import TYPE_CHECKING

import torch

from tokenloop_models.cache import KVCache
from tokenloop_models.cuda_graph import cuda_graphs
from tokenloop_models.errors import Cancelled, ModelError, quoted
from tokenloop_models.landing import Landing
from tokenloop_models.memory import memory_for
from tokenloop_models.recorded import RecordedDecode
from tokenloop_models.reports import ModelInfo, Output, Probe, Timings
from tokenloop_models.scores import Scorer, Scores
from tokenloop_models.stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tokenloop_models.config import DecoderConfig
    from tokenloop_models.decoder import Decoder
    from tokenloop_models.recorded import Recorder
    from tokenloop_models.tokenizer import Tokenizer

__all__ = ["Model", "ModelInfo", "Output", "Probe", "Timings", "chunk_size"]

CHUNK_WORK = 2**37
LARGEST_CHUNK, SMALLEST_CHUNK = 512, 128
CUDA_CHUNK = 1024
"""Rows enough to keep a large device busy, and few enough that a cancelled prefill ends soon."""


class Model:
    """A decoder with its tokenizer. It keeps no state of a text: that is in the caches.

    Attributes:
        tokenizer: of the same checkpoint.
        info: what it is.
        chunk: how many positions a prefill computes at once.
        unrecorded: why decodes aren't recorded and replayed; ``None``: they are.
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
        self.chunk = chunk_size(info.parameters) if device.type == "cpu" else CUDA_CHUNK
        self._decoder = decoder
        self._config = config
        self._device = device
        self._dtype = dtype
        self._landing = Landing(device)
        self._one_at_a_time = RLock()  # a callback may run a pass of its own
        self._recorded: RecordedDecode | None = None
        self.unrecorded: str | None = "a processor works at once: there is nothing to record"
        if device.type == "cuda":
            self.record_decodes(cuda_graphs(device))
            if self.unrecorded is not None:
                self._note_unrecorded()

    def record_decodes(self, record: Recorder | None) -> None:
        """Choose how decodes are recorded from now on; ``None``: they aren't.

        A pass that is watched layer by layer and a model that needs the host within a pass stay
        what they are.
        """
        self._recorded = None
        self.unrecorded = self._decoder.needs_host
        if record is None:
            self.unrecorded = "recording is switched off"
        elif self.unrecorded is None:
            self._recorded = RecordedDecode(
                self._decoder,
                record,
                hidden=self._config.hidden,
                dtype=self._dtype,
                device=self._device,
            )

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
        reusable for the longer text (:meth:`KVCache.reusable`): of most models it always is. Passes
        of several threads wait for each other: a decode writes to the same memory every time.

        Args:
            ids: of the new positions, from ``cache.length`` on.
            cache: of the text so far; holds the new positions too afterwards.
            top: how many candidates of every new position to keep; 0 for no scores.
            probe: what to watch; costs nothing when absent.
            progress: called with (done, total) positions after each chunk. On CUDA the last of
                them may still be running.
            cancelled: asked before each chunk and, of several ids, after each layer.

        Raises:
            ModelError: an id is none of the vocabulary, there is none, or they don't fit into the
                context or the cache not into memory: nothing was computed, the cache is as it was.
                Or memory ran out in a pass: the cache holds the chunks completed before.
            Cancelled: the cache holds the chunks completed before.
        """
        with self._one_at_a_time:
            began = time.perf_counter()
            checked = self._checked(ids)
            cache.reserve(len(checked))
            watched = probe is not None and probe.layer_times
            if self._recorded is not None and len(checked) == 1 and not watched:
                if cancelled is not None and cancelled():
                    raise Cancelled("stopped before the only position")
                replayed = self._replay(self._recorded, checked[0], cache, top, began)
                if replayed is not None:
                    if progress is not None:
                        progress(1, 1)
                    return replayed
            return self._computed(checked, cache, top, watched, progress, cancelled, began)

    def _computed(
        self,
        ids: list[int],
        cache: KVCache,
        top: int,
        watched: bool,
        progress: Callable[[int, int], None] | None,
        cancelled: Callable[[], bool] | None,
        began: float,
    ) -> Output:
        """A pass that runs operation by operation, in chunks: a prefill, or a plain decode."""
        tokens = self._on_device(ids)
        following = tokens.roll(-1)
        vocabulary = self._config.vocab_size
        scorer = Scorer(self._decoder.logits, top, vocabulary) if top > 0 else None
        watch = Stopwatch(self._device)
        total, held = len(ids), cache.length

        def go_on() -> None:
            if cancelled is not None and cancelled():
                raise Cancelled(f"stopped after {cache.length - held:,} of {total:,} positions")

        def after_layer(index: int) -> None:
            if watched:
                watch.lap(index)
            go_on()

        look = after_layer if watched or total > 1 else None
        for start in range(0, total, self.chunk):
            go_on()
            stop = min(start + self.chunk, total)
            with memory_for(f"a pass over {stop - start:,} positions"):
                every = scorer is not None
                hidden = self._decoder.hidden(tokens[start:stop], cache, look, every=every)
                watch.lap("layers")
                if scorer is not None:
                    last = scorer.add(hidden, following[start:stop])
                elif stop == total:
                    last = self._decoder.logits(hidden[-1:])[0]
                watch.lap("head")
            cache.advance(stop - start)
            watch.pace()
            if progress is not None:
                progress(stop, total)

        results = [last] if scorer is None else [last, *scorer.columns()]
        logits, *columns = self._landing.bring(results, watch)
        scores = Scores.of(columns) if columns else None
        return Output(logits=logits, scores=scores, timings=self._timings(watch, began))

    def _replay(
        self, recorded: RecordedDecode, token: int, cache: KVCache, top: int, began: float
    ) -> Output | None:
        """A decode that was recorded, or is now; ``None`` where that can't be done."""
        top = min(top, self._config.vocab_size)
        watch = Stopwatch(self._device)
        try:
            is_new = recorded.begin(token, cache, top)
        except RuntimeError as error:
            self._give_up_recording(error)
            return None
        watch.lap("recording" if is_new else "layers")
        with memory_for("a pass over 1 position"):
            recorded.layers(cache)
            watch.lap("layers")
            parcel = recorded.head(top)
            watch.lap("head")
            cache.advance(1)
            logits, *columns = self._landing.fetch(parcel, watch)
        scores = Scores.of(columns) if columns else None
        timings = self._timings(watch, began)
        return Output(logits=logits, scores=scores, timings=timings, replayed=True)

    def _give_up_recording(self, error: RuntimeError) -> None:
        """Say why, once, and decode without from now on."""
        self._recorded = None
        first_line = str(error).partition("\n")[0] or type(error).__name__
        self.unrecorded = f"recording failed: {quoted(first_line)}"
        self._note_unrecorded()
        warnings.warn(self.info.notices[-1], stacklevel=3)

    def _note_unrecorded(self) -> None:
        notice = f"decodes run without a CUDA graph, slower: {self.unrecorded}"
        self.info = replace(self.info, notices=(*self.info.notices, notice))

    def _on_device(self, ids: list[int]) -> torch.Tensor:
        if self._device.type == "cpu":
            return torch.tensor(ids)
        # from page-locked memory, so that nothing waits for the copy
        return torch.tensor(ids, pin_memory=True).to(self._device, non_blocking=True)

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
            recording_ms=laps.get("recording", 0.0),
        )


def chunk_size(parameters: int) -> int:
    """How many positions a prefill computes at once on a CPU: fewer the larger the model.

    It depends on the model alone, so that the same text gives the same numbers. The more rows a
    product has, the less it counts that the weights are read and laid out for it: on two cores of
    an EPYC products ran at 150 GFLOP/s with 64 rows, 180 with 128, 200 with 256, 208 with 512.
    512 positions of a 135M model take two thirds of a second there.
    """
    fitting = CHUNK_WORK // max(parameters, 1)
    chunk = LARGEST_CHUNK
    while chunk > max(fitting, SMALLEST_CHUNK):
        chunk //= 2
    return chunk
