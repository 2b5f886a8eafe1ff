"""Resolving a file's rotary settings to frequencies; unknown ways of scaling are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from tokenloop_models.errors import ModelError
from tokenloop_models.file_kinds import shown
from tokenloop_models.parts import rope

if TYPE_CHECKING:
    from tokenloop_models.checkpoint import Checkpoint
    from tokenloop_models.fields import Fields

TYPES = ("default", "linear", "llama3")
FACTORS = "rope_freqs.weight"


def from_config_json(fields: Fields, head_dim: int) -> tuple[float, ...]:
    """The frequencies of a ``config.json``.

    They stand in ``rope_theta`` and ``rope_scaling`` (its type under ``rope_type`` or the older
    ``type``), or together in the newer ``rope_parameters``.

    Raises:
        ModelError: the type, or a field that belongs to it, is not known or makes no sense.
    """
    newer = fields.get("rope_parameters") is not None
    if newer and fields.get("rope_scaling") not in (None, fields.get("rope_parameters")):
        raise fields.refused("rope_scaling", "must not stand beside another rope_parameters")
    scaling = fields.inside("rope_parameters" if newer else "rope_scaling")
    outer = fields.number("rope_theta", 10_000.0, low=1.0)
    theta = scaling.number("rope_theta", outer, low=1.0)
    if fields.get("rope_theta") is not None and theta != outer:
        raise scaling.refused("rope_theta", f"must be the {outer:g} that stands outside")
    scaling.neutral("partial_rotary_factor", 1.0, 1)

    kind = scaling.choice("rope_type", TYPES, scaling.choice("type", TYPES, "default"))
    if scaling.get("type") is not None:
        scaling.neutral("type", kind)
    known = {"rope_type", "type", "rope_theta", "partial_rotary_factor"}
    plain = rope.frequencies(theta, head_dim)
    if kind == "linear":
        known |= {"factor"}
        plain = rope.linear(plain, scaling.number("factor", low=1.0))
    elif kind == "llama3":
        names = ("factor", "low_freq_factor", "high_freq_factor")
        factor, low, high = (scaling.number(name, low=1e-3) for name in names)
        context = scaling.whole("original_max_position_embeddings")
        known |= {*names, "original_max_position_embeddings"}
        if low >= high:
            raise scaling.refused("low_freq_factor", f"must be below high_freq_factor = {high:g}")
        plain = rope.llama3(plain, factor, low, high, context)
    for name in scaling.names():
        if name not in known:
            raise scaling.refused(name, f"is not known for rope type {kind}")
    return tuple(plain.tolist())


def from_gguf(checkpoint: Checkpoint, fields: Fields, head_dim: int) -> tuple[float, ...]:
    """The frequencies of a GGUF.

    Scaling stands in the metadata (``linear``), or in a tensor that divides each frequency: that
    is how converters store ``llama3``.

    Raises:
        ModelError: the type, or a field that belongs to it, is not known or makes no sense.
    """
    fields.neutral("rope.dimension_count", head_dim)
    fields.neutral("rope.scaling.attn_factor", 1.0)
    plain = rope.frequencies(fields.number("rope.freq_base", 10_000.0, low=1.0), head_dim)
    if fields.choice("rope.scaling.type", ("none", "linear"), "linear") == "linear":
        older = fields.number("rope.scale_linear", 1.0)
        factor = fields.number("rope.scaling.factor", older)
        plain = rope.linear(plain, factor or 1.0)  # 0 stands for none
    if FACTORS in checkpoint.names():
        plain = plain / _factors(checkpoint, head_dim // 2)
    return tuple(plain.tolist())


def _factors(checkpoint: Checkpoint, pairs: int) -> torch.Tensor:
    where = f"{shown(checkpoint.path)}: tensor '{FACTORS}'"
    if checkpoint.shape(FACTORS) != (pairs,):
        shape = list(checkpoint.shape(FACTORS))
        raise ModelError(f"{where} has shape {shape}; [{pairs}] is needed (head dim / 2)")
    factors = checkpoint.tensor(FACTORS, torch.float32)
    if not bool((factors.isfinite() & (factors > 0)).all()):
        raise ModelError(f"{where} must hold finite numbers above 0")
    return factors
