"""What passes cost: the KV cache's memory, and time."""

from __future__ import annotations

from msgspec import Struct


class CacheRecord(Struct, frozen=True, kw_only=True):
    """The KV cache after a pass.

    Attributes:
        positions: how many it holds.
        bytes: what those positions take (positions × bytes_per_position).
        allocated_bytes: what is reserved for them (the cache grows in blocks).
        kept: positions that the last change kept.
        computed: positions that the last pass computed.
        dtype: of the keys and values.
        bytes_per_position: layers × KV heads × head dim × 2 (K, V) × bytes of the dtype.
        context_length: the model's limit.
        layers, kv_heads, head_dim, itemsize: where bytes_per_position comes from.
    """

    positions: int
    bytes: int
    allocated_bytes: int
    kept: int
    computed: int
    dtype: str
    bytes_per_position: int
    context_length: int
    layers: int
    kv_heads: int
    head_dim: int
    itemsize: int


class Latency(Struct, frozen=True, kw_only=True):
    """Where the time of one step went, in milliseconds.

    Attributes:
        prefill: the whole pass where it computed several positions at once, else 0.
        decode: the whole pass where it computed one position, else 0.
        layers, head, copy: the pass's parts: embedding and layers; final norm and output head;
            bringing the logits to the host.
        sample: the sampler with its trace, and the draw.
        total: pass and sampler.
        positions: how many positions the pass computed.
        layer_ms: each layer's time where it was asked for.
    """

    prefill: float
    decode: float
    layers: float
    head: float
    copy: float
    sample: float
    total: float
    positions: int
    layer_ms: tuple[float, ...] = ()


class LatencyHistory(Struct, frozen=True, kw_only=True):
    """The session's passes so far, for the latency panel.

    Attributes:
        steps_ms: the last steps' totals, oldest first (at most 256). A pass over given text is no
            step, though it computed one position.
        prefill: the last pass over several positions, or ``None``.
        decode: the last pass over one position, or ``None``.
        last: whichever of the two ran last.
        last_is_step: whether that pass was a step's; it read given text otherwise.
        redraw_ms: what the sampler took since, where no pass ran for the last change; ``None``
            right after a pass.
        paint_ms: what the screen took for the last change, or ``None`` where there is no screen.
    """

    steps_ms: tuple[float, ...] = ()
    prefill: Latency | None = None
    decode: Latency | None = None
    last: Latency | None = None
    last_is_step: bool = False
    redraw_ms: float | None = None
    paint_ms: float | None = None
