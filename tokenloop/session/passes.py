"""Forward passes over a prefix: the KV cache and the ids that it holds, never out of step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokenloop.records import CacheRecord, Latency
from tokenloop.session.runtime import Cache, IsCancelled, OnProgress, Runtime

if TYPE_CHECKING:
    from tokenloop_models.model import Output

_ITEM_SIZE = {"float32": 4, "bfloat16": 2, "float16": 2}


@dataclass(frozen=True, eq=False)
class Pass:
    """One pass that ran.

    Attributes:
        output: logits, scores and timings.
        kept: positions that the cache held already.
        computed: positions that the pass computed.
    """

    output: Output
    kept: int
    computed: int

    def latency(self, sample_ms: float) -> Latency:
        """Where the time went, the sampler's included."""
        timings = self.output.timings
        several = self.computed > 1
        return Latency(
            prefill=timings.total_ms if several else 0.0,
            decode=0.0 if several else timings.total_ms,
            layers=timings.layers_ms,
            head=timings.head_ms,
            copy=timings.copy_ms,
            sample=sample_ms,
            total=timings.total_ms + sample_ms,
            positions=self.computed,
            layer_ms=timings.layer_ms,
        )


class CachedPasses:
    """Runs passes so that the cache holds a prefix, computing only what it lacks.

    The ids that the cache holds are compared with those wanted before each pass, so a cancelled or
    failed one leaves nothing to repair.
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._cache: Cache = runtime.new_cache()
        self._ids: list[int] = []

    @property
    def ids(self) -> tuple[int, ...]:
        """The prefix that the cache holds."""
        return tuple(self._ids)

    def run(
        self,
        ids: Sequence[int],
        *,
        keep: int | None = None,
        top: int = 0,
        progress: OnProgress | None = None,
        cancelled: IsCancelled | None = None,
    ) -> Pass:
        """Make the cache hold ``ids`` and give the logits after the last of them.

        Args:
            ids: the whole prefix, at least one.
            keep: how many cached positions to reuse at most (all that fit when ``None``); the last
                position is always computed, since its logits are wanted.
            top: candidates a position to score, 0 for none.
            progress: told of positions done.
            cancelled: asked between chunks.

        Raises:
            Cancelled: the cache holds what was completed.
            ModelError: the ids can't be run.
        """
        kept = min(common_prefix(self._ids, ids), len(ids) - 1, len(ids) if keep is None else keep)
        kept = min(kept, self._cache.reusable(len(ids)))
        self.truncate(kept)
        try:
            output = self._runtime.forward(
                ids[kept:], self._cache, top=top, progress=progress, cancelled=cancelled
            )
        finally:
            self._ids = list(ids[: self._cache.length])
        return Pass(output, kept, len(ids) - kept)

    def truncate(self, length: int) -> None:
        """Keep at most the first ``length`` positions."""
        if length < len(self._ids):
            self._cache.truncate(length)
            del self._ids[length:]

    def record(self, kept: int, computed: int) -> CacheRecord:
        """The cache as it is, after a change that kept and computed so many positions."""
        info = self._runtime.info
        return CacheRecord(
            positions=self._cache.length,
            bytes=self._cache.nbytes,
            allocated_bytes=self._cache.allocated_bytes,
            kept=kept,
            computed=computed,
            dtype=self._cache.dtype,
            bytes_per_position=self._cache.bytes_per_position,
            context_length=info.context_length,
            layers=info.layers,
            kv_heads=info.kv_heads,
            head_dim=info.head_dim,
            itemsize=_ITEM_SIZE[self._cache.dtype],
        )


def common_prefix(held: Sequence[int], wanted: Sequence[int]) -> int:
    """Length of the common prefix of two sequences of ids."""
    pairs = zip(held, wanted, strict=False)
    differing = (index for index, (a, b) in enumerate(pairs) if a != b)
    return next(differing, min(len(held), len(wanted)))
