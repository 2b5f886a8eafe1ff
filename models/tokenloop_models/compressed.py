"""Ways to compress the weights of a folder that can't be read, by name.

Quantised weights are read from GGUF; in safetensors only plain floats are. A compressed model says
so in its ``config.json``, mostly; those that don't are told by the names of their tensors.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from tokenloop_models.errors import quoted

MARKS = (
    (".qweight", "GPTQ or AWQ"),
    (".SCB", "bitsandbytes int8"),
    (".quant_state.", "bitsandbytes 4-bit"),
    (".weight_packed", "compressed-tensors"),
    (".weight_scale", "fp8"),  # and weight_scale_inv
    (".qzeros", "GPTQ or AWQ"),
    (".codebooks", "AQLM"),
    (".W_q", "HQQ"),
    (".scales", "MLX"),
)
"""What tensors of such a model have in their names."""


class Compression(NamedTuple):
    """How weights are compressed, and where it is said."""

    method: str
    field: str


def in_config(config: Mapping[str, Any]) -> Compression | None:
    """Return what a ``config.json`` says of it; ``None`` where it says nothing."""
    for field in ("quantization_config", "compression_config", "quantization"):
        if (said := config.get(field)) is not None:
            return Compression(_method(said), field)
    return None


def in_names(names: Iterable[str]) -> Compression | None:
    """Return what the names of tensors give away; ``None`` where they are those of plain floats."""
    for name in names:
        for mark, method in MARKS:
            if mark in name:
                return Compression(method, f"tensor {quoted(name)}")
    return None


def _method(said: object) -> str:
    if not isinstance(said, dict):
        return str(said)
    if said.get("quant_method") is not None:
        return str(said["quant_method"])
    for bits in (4, 8):
        if said.get(f"load_in_{bits}bit"):
            return f"bitsandbytes {bits}-bit"
    if "group_size" in said and "bits" in said:
        return f"MLX {said['bits']}-bit"
    return "compressed"
