"""What many families have in common: how the usual settings are read."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tokenloop_models.config import DecoderConfig, Experts, LayerConfig
from tokenloop_models.families import rotary
from tokenloop_models.families.storing import GGUF_NAMES
from tokenloop_models.roles import ATTENTION, EVERYTHING, GATED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tokenloop_models.config import NormKind, Rotary
    from tokenloop_models.families.settings import Settings

MOST_LAYERS = 10_000

FULL, SLIDING = "full_attention", "sliding_attention"
OPTIONAL_BIASES = {"attention_bias": ATTENTION, "mlp_bias": GATED}


def llama_like(
    settings: Settings,
    *,
    norm: NormKind = "rms",
    biases: Iterable[str] = (),
    turning: Rotary | None = None,
    partial: bool = False,
) -> DecoderConfig:
    """Read the settings that most families have: rotary positions, grouped heads, one MLP.

    Args:
        settings: of the model.
        norm: the kind of its norms.
        biases: which roles always have one. ``attention_bias`` and ``mlp_bias`` are read as well;
            a GGUF has them where it holds their tensors.
        turning: how positions turn heads, where that was read already.
        partial: whether heads may turn only in part.

    Raises:
        ModelError: a field is missing or out of range.
    """
    hidden = settings.whole("hidden_size")
    heads = settings.whole("num_attention_heads")
    dim = head_dim(settings)
    if turning is None:
        turning = rotary.read(settings, dim, partial=partial)
    layer = LayerConfig(intermediate=settings.whole("intermediate_size"), rotary=turning)
    eps = {"rms": "rms_norm_eps", "layer": "layer_norm_eps"}[norm]
    return DecoderConfig(
        vocab_size=settings.vocab_size(),
        hidden=hidden,
        heads=heads,
        kv_heads=kv_heads(settings),
        head_dim=dim,
        context_length=rotary.context_length(settings, turning),
        layers=(layer,) * settings.whole("num_hidden_layers", high=MOST_LAYERS),
        norm=norm,
        norm_eps=settings.number(eps, low=0.0, high=1.0),
        activation=settings.activation(),
        biases=frozenset(biases) | _optional_biases(settings),
        tied_head=settings.is_tied(),
    )


def gpt_like(settings: Settings) -> DecoderConfig:
    """Read the settings of GPT-2's kin: learned positions, layer norms, a plain MLP, biases.

    Raises:
        ModelError: a field is missing or out of range.
    """
    hidden = settings.whole("hidden_size")
    heads = settings.whole("num_attention_heads")
    if hidden % heads:
        raise settings.refused("num_attention_heads", f"must divide the {hidden} features")
    context = settings.whole("max_position_embeddings")
    layer = LayerConfig(intermediate=settings.whole("intermediate_size", 4 * hidden))
    return DecoderConfig(
        vocab_size=settings.vocab_size(),
        hidden=hidden,
        heads=heads,
        kv_heads=heads,
        head_dim=hidden // heads,
        context_length=context,
        layers=(layer,) * settings.whole("num_hidden_layers", high=MOST_LAYERS),
        norm="layer",
        norm_eps=settings.number("layer_norm_eps", low=0.0, high=1.0),
        activation=settings.activation(),
        gated=False,
        biases=EVERYTHING,
        position_rows=context,
        tied_head=settings.is_tied(),
    )


def head_dim(settings: Settings) -> int:
    """Features a head: what the file says, or what the heads leave of the hidden state."""
    hidden, heads = settings.whole("hidden_size"), settings.whole("num_attention_heads")
    if settings.get("head_dim") is None and hidden % heads:
        problem = f"must be given: {heads} heads don't divide {hidden} features"
        raise settings.refused("head_dim", problem)
    dim = settings.whole("head_dim", hidden // heads)
    if dim % 2:
        raise settings.refused("head_dim", f"must be even for rotary pairs, not {dim}")
    if settings.gguf:
        settings.neutral("attention.value_length", dim)
    return dim


def kv_heads(settings: Settings) -> int:
    """Key/value heads: what the file says, or one a query head."""
    heads = settings.whole("num_attention_heads")
    count = settings.whole("num_key_value_heads", heads)
    if heads % count:
        raise settings.refused("num_key_value_heads", f"must divide the {heads} query heads")
    return count


def windowed(
    settings: Settings, config: DecoderConfig, slides: Callable[[int], bool], *, window: int | None
) -> DecoderConfig:
    """Give layers a sliding window.

    Args:
        settings: of the model; which layers slide is their ``layer_types``, or in a GGUF a pattern.
        config: what has been read so far.
        slides: whether a layer does, where the file doesn't say.
        window: how many positions a sliding layer sees; ``None``: all.
    """
    count = len(config.layers)
    pattern = _pattern(settings, count) if settings.gguf else None
    types = None if settings.gguf else settings.words("layer_types", (FULL, SLIDING), count)
    if types is not None:
        pattern = [each == SLIDING for each in types]
    if pattern is None:
        pattern = [slides(index) for index in range(count)]
    if window is None and types is not None and any(pattern):
        raise settings.refused("sliding_window", "must be given: layer_types has sliding layers")
    return config.each_layer(
        lambda index, layer: replace(layer, window=window) if pattern[index] else layer
    )


def unwindowed(settings: Settings, config: DecoderConfig) -> DecoderConfig:
    """Leave all layers without a window, though a ``config.json`` may name one that is off."""
    if not settings.gguf:
        settings.get("sliding_window")
        settings.words("layer_types", (FULL,), len(config.layers))
    return config


def experts(settings: Settings, *, renormalised: bool, name: str = "num_experts") -> Experts:
    """Read how many experts there are and are used."""
    count = settings.whole(name, high=MOST_LAYERS)
    used = settings.whole("num_experts_per_tok", high=count)
    return Experts(count=count, used=used, renormalised=renormalised)


def _pattern(settings: Settings, count: int) -> list[bool] | None:
    """Which layers of a GGUF slide: all but every n-th, or a list."""
    name = "attention.sliding_window_pattern"
    value = settings.get(name)
    if isinstance(value, list):
        if len(value) != count or not all(isinstance(each, bool) for each in value):
            raise settings.refused(name, f"must be a number, or a list of {count:,} true or false")
        return value
    if value is None:
        return None
    period = settings.whole(name)
    return [(index + 1) % period != 0 for index in range(count)]


def _optional_biases(settings: Settings) -> frozenset[str]:
    if not settings.gguf:
        asked = (roles for name, roles in OPTIONAL_BIASES.items() if settings.flag(name, False))
        return frozenset(role for roles in asked for role in roles)
    there = settings.checkpoint.names()
    held = [roles for roles, name in GGUF_NAMES.items() if f"{name.format(0)}.bias" in there]
    return frozenset(" ".join(held).split()).intersection((*ATTENTION, *GATED))
