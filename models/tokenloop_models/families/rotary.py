"""Resolving a file's rotary settings to frequencies; unknown ways of scaling are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from tokenloop_models.config import Rotary
from tokenloop_models.errors import ModelError
from tokenloop_models.file_kinds import shown
from tokenloop_models.parts import rope

if TYPE_CHECKING:
    from tokenloop_models.families.settings import Settings
    from tokenloop_models.fields import Fields

LOWEST_THETA = 1.01
"""With a base of 1 every pair turns alike, and yarn divides by its logarithm."""
TYPES = ("default", "linear", "dynamic", "llama3", "yarn", "longrope", "su")
FACTORS = "rope_freqs.weight"
SHORT_FACTORS, LONG_FACTORS = "rope_factors_short.weight", "rope_factors_long.weight"
THETA = 10_000.0


def read(settings: Settings, head_dim: int, *, partial: bool = False) -> Rotary:
    """The rotary embedding that all layers of a model share.

    Args:
        settings: of the model.
        head_dim: features a head.
        partial: whether its family knows of heads that turn only in part.

    Raises:
        ModelError: the type, or a field that belongs to it, is not known or makes no sense.
    """
    if settings.gguf:
        return from_gguf(settings, head_dim)
    newer = settings.states("rope_parameters")
    if newer and settings.get("rope_scaling") not in (None, settings.get("rope_parameters")):
        raise settings.refused("rope_scaling", "must not stand beside another rope_parameters")
    scaling = settings.inside("rope_parameters" if newer else "rope_scaling")
    return from_fields(settings, scaling, head_dim, partial=partial)


def from_fields(
    settings: Settings,
    scaling: Fields,
    head_dim: int,
    *,
    theta_name: str = "rope_theta",
    partial: bool = False,
) -> Rotary:
    """The rotary embedding that a part of a ``config.json`` describes.

    The base and the part that turns stand beside the scaling (in the newer ``rope_parameters``) or
    outside; its type is called ``rope_type`` or, in older files, ``type``.

    Args:
        settings: of the model.
        scaling: the fields that describe it.
        head_dim: features a head.
        theta_name: what the base is called outside.
        partial: whether heads may turn only in part.
    """
    theta = _inner_or_outer(settings, scaling, "rope_theta", theta_name, low=LOWEST_THETA)
    part = "partial_rotary_factor"
    if not partial:
        settings.neutral(part, 1.0, 1)
        scaling.neutral(part, 1.0, 1)
    share = _inner_or_outer(settings, scaling, part, part, low=0.0) if partial else 1.0
    dims = int(head_dim * share)
    if dims % 2 or not 2 <= dims <= head_dim:
        raise settings.refused(part, f"must leave an even number of the {head_dim} features")
    kind = scaling.choice("rope_type", TYPES, scaling.choice("type", TYPES, "default"))
    if scaling.states("type"):
        scaling.neutral("type", kind)
    rotary = _scaled(settings, scaling, kind, theta, dims)
    for name in scaling.unasked():
        raise scaling.refused(name, f"is not known for rope type {kind}")
    return rotary


def from_gguf(settings: Settings, head_dim: int) -> Rotary:
    """The rotary embedding of a GGUF.

    Scaling stands in the metadata (linear, yarn), or in tensors that divide each frequency: one
    for ``llama3``, two for ``longrope``.

    Args:
        settings: of the model.
        head_dim: features a head.
    """
    dims = settings.whole("rope.dimension_count", head_dim, low=2, high=head_dim)
    if dims % 2:
        raise settings.refused("rope.dimension_count", "must be even: features turn in pairs")
    theta = settings.number("rope.freq_base", THETA, low=LOWEST_THETA)
    kinds = ("none", "linear", "yarn", "longrope")
    kind = settings.choice("rope.scaling.type", kinds, "linear")
    older = settings.number("rope.scale_linear", 1.0)
    factor = settings.number("rope.scaling.factor", older) or 1.0  # 0 stands for none
    original = settings.whole(
        "rope.scaling.original_context_length", settings.whole("max_position_embeddings")
    )
    magnitude = settings.number("rope.scaling.attn_factor", 1.0)
    settings.get("rope.scaling.finetuned")
    there = settings.checkpoint.names()
    if LONG_FACTORS in there:
        short, long = (
            tuple(rope.plain(theta, dims, _divisors(settings, name, dims // 2)).tolist())
            for name in (SHORT_FACTORS, LONG_FACTORS)
        )
        return Rotary(frequencies=rope.LongRope(short, long, original), magnitude=magnitude)
    if kind == "longrope":
        raise settings.refused("rope.scaling.type", f"needs the tensor {LONG_FACTORS}")
    settings.neutral("rope.scaling.attn_factor", 1.0)
    divisors = _divisors(settings, FACTORS, dims // 2) if FACTORS in there else 1.0
    plain = rope.plain(theta, dims, divisors)
    if kind == "yarn":
        factor = settings.number("rope.scaling.factor", low=1.0)
        settings.neutral("rope.scaling.yarn_ext_factor", 1.0)
        settings.neutral("rope.scaling.yarn_attn_factor", 1.0)
        settings.neutral("rope.scaling.yarn_log_multiplier", 0.0)
        fast = settings.number("rope.scaling.yarn_beta_fast", 32.0, low=1e-3)
        slow = settings.number("rope.scaling.yarn_beta_slow", 1.0, low=1e-3)
        plain = rope.yarn(theta, dims, factor, original, fast=fast, slow=slow)
        magnitude = rope.yarn_magnitude(factor)
    elif kind == "linear":
        plain = rope.linear(plain, factor)
    return Rotary(frequencies=rope.Fixed(tuple(plain.tolist())), magnitude=magnitude)


def plain(theta: float, dims: int) -> Rotary:
    """The rotary embedding of a base alone."""
    return Rotary(frequencies=rope.Fixed(tuple(rope.plain(theta, dims).tolist())))


def context_length(settings: Settings, rotary: Rotary | None) -> int:
    """The most positions of a model: what its file says, or what its scaling reaches to."""
    context = settings.whole("max_position_embeddings")
    if rotary is not None and isinstance(rotary.frequencies, rope.DynamicNTK):
        return int(context * rotary.frequencies.factor)
    return context


def _scaled(settings: Settings, scaling: Fields, kind: str, theta: float, dims: int) -> Rotary:
    plain = rope.plain(theta, dims)
    magnitude = 1.0
    if kind == "linear":
        plain = rope.linear(plain, scaling.number("factor", low=1.0))
    elif kind == "dynamic":
        if dims < 4:
            raise scaling.refused("rope_type", "needs at least 4 features that turn")
        factor = scaling.number("factor", low=1.0)
        original = settings.whole("max_position_embeddings")
        return Rotary(frequencies=rope.DynamicNTK(theta, dims, factor, original))
    elif kind == "llama3":
        names = ("factor", "low_freq_factor", "high_freq_factor")
        factor, low, high = (scaling.number(name, low=1e-3) for name in names)
        if low >= high:
            raise scaling.refused("low_freq_factor", f"must be below high_freq_factor = {high:g}")
        plain = rope.llama3(plain, factor, low, high, _original(settings, scaling))
    elif kind == "yarn":
        factor = scaling.number("factor", low=1.0)
        magnitude = _yarn_magnitude(scaling, factor)
        plain = rope.yarn(
            theta,
            dims,
            factor,
            _original(settings, scaling),
            fast=scaling.number("beta_fast", 32.0, low=1e-3),
            slow=scaling.number("beta_slow", 1.0, low=1e-3),
            whole_pairs=scaling.flag("truncate", True),
        )
    elif kind in ("longrope", "su"):
        return _longrope(settings, scaling, theta, dims)
    return Rotary(frequencies=rope.Fixed(tuple(plain.tolist())), magnitude=magnitude)


def _yarn_magnitude(scaling: Fields, factor: float) -> float:
    weight, weight_all = scaling.number("mscale", 0.0), scaling.number("mscale_all_dim", 0.0)
    default = rope.yarn_magnitude(factor)
    if weight and weight_all:
        default = rope.yarn_magnitude(factor, weight) / rope.yarn_magnitude(factor, weight_all)
    return scaling.number("attention_factor", default)


def _longrope(settings: Settings, scaling: Fields, theta: float, dims: int) -> Rotary:
    original = _original(settings, scaling, low=2)  # its logarithm divides
    divisors = (
        torch.tensor(scaling.numbers(name, dims // 2, low=1e-3))
        for name in ("short_factor", "long_factor")
    )
    short, long = (tuple(rope.plain(theta, dims, each).tolist()) for each in divisors)
    factor = scaling.number("factor", settings.whole("max_position_embeddings") / original)
    magnitude = rope.longrope_magnitude(factor, original)
    return Rotary(
        frequencies=rope.LongRope(short, long, original),
        magnitude=scaling.number("attention_factor", magnitude),
    )


def _original(settings: Settings, scaling: Fields, *, low: int = 1) -> int:
    """The context of the first training: outside the scaling (Phi 3), or within."""
    name = "original_max_position_embeddings"
    scaling.get(name)
    if settings.get(name):
        return settings.whole(name, low=low)
    return scaling.whole(name, low=low)


def _inner_or_outer(
    settings: Settings, scaling: Fields, inner: str, outer: str, *, low: float
) -> float:
    """A number that may stand within the scaling, outside, or in both places alike."""
    without = settings.number(outer, low=low)
    within = scaling.number(inner, without, low=low)
    if settings.states(outer) and within != without:
        raise scaling.refused(inner, f"must be the {without:g} that stands outside")
    return within


def _divisors(settings: Settings, name: str, pairs: int) -> torch.Tensor:
    checkpoint = settings.checkpoint
    where = f"{shown(checkpoint.path)}: tensor '{name}'"
    if checkpoint.shape(name) != (pairs,):
        shape = list(checkpoint.shape(name))
        raise ModelError(f"{where} has shape {shape}; [{pairs}] is needed, one a pair")
    factors = checkpoint.tensor(name)
    if not bool((factors.isfinite() & (factors > 0)).all()):
        raise ModelError(f"{where} must hold finite numbers above 0")
    return factors
