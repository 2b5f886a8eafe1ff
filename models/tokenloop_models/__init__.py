"""The decoder runtime: checkpoints in, logits out, one KV cache a text.

Importing this package imports no torch; :func:`load` does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokenloop_models.errors import Cancelled, ModelError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tokenloop_models.model import Model

__all__ = ["Cancelled", "ModelError", "load"]


def load(
    source: str | Path,
    *,
    device: str = "auto",
    dtype: str = "auto",
    precision: str = "exact",
    threads: int | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Model:
    """Load a model.

    Args:
        source: a name in the catalogue ("smollm2"), a folder, a ``.gguf`` or a ``.safetensors``.
        device: ``auto`` (CUDA where there is one), ``cpu``, ``cuda`` or ``cuda:N``.
        dtype: ``auto`` (float32 on a CPU, bfloat16 on CUDA), ``float32``, ``bfloat16`` or
            ``float16``.
        precision: ``exact`` (products over weights dequantised to the dtype) or ``fast`` (a GGUF's
            blocks of 4 to 8 bits stay packed, products round to bfloat16; CPU only).
        threads: how many torch uses on the CPU, in the whole process; ``None`` leaves it alone.
        progress: called with ("weights", tensors read, tensors in all).

    Raises:
        ModelError: it isn't there, isn't known or doesn't fit; the line says which and what is
            allowed. Nothing is guessed and nothing is filled in.
    """
    from tokenloop_models.threads import wait_without_spinning

    wait_without_spinning()
    from tokenloop_models import loading

    return loading.load(
        source,
        device=device,
        dtype=dtype,
        precision=precision,
        threads=threads,
        progress=progress,
    )
