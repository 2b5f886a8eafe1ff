"""What a model says of itself and of a pass: plain frozen data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tokenloop_models.scores import Scores


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
        recording_ms: recording a decode, where that had to be done first; in the total alone.
        layer_ms: each layer's time where a probe asked for it (a prefill's chunks added up).
    """

    layers_ms: float
    head_ms: float
    copy_ms: float
    total_ms: float
    layer_ms: tuple[float, ...] = ()
    recording_ms: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Output:
    """What a pass answers.

    Attributes:
        logits: of the last position, float32, (vocabulary,), on the host.
        scores: of every new position, where they were asked for.
        timings: of this pass.
        replayed: whether it was a recorded decode.
    """

    logits: NDArray[np.float32]
    scores: Scores | None
    timings: Timings
    replayed: bool = False
