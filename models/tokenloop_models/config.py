"""What a decoder is built from, whatever family and file it came from: plain frozen data.

A family's file fills these in; the decoder and the list of its weights follow from them alone. The
defaults are a Llama's, so that what a family sets is what is special about it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Callable

    from tokenloop_models.parts.rope import Frequencies

NormKind = Literal["rms", "layer"]
Arrangement = Literal["pre", "sandwich", "post", "after_sum", "parallel", "parallel_shared"]
"""Where a layer's norms stand around its two branches, f = attention and g = MLP:

- ``pre``: x + f(norm(x)), then x + g(norm(x)).
- ``sandwich``: x + norm(f(norm(x))), then x + norm(g(norm(x))).
- ``post``: x + norm(f(x)), then x + norm(g(x)).
- ``after_sum``: norm(x + f(x)), then norm(x + g(x)).
- ``parallel``: x + f(norm(x)) + g(norm'(x)).
- ``parallel_shared``: x + f(norm(x)) + g(norm(x)).
"""
QKNorm = Literal["head", "each_head", "across_heads"]
"""How queries and keys are normalised before they turn: every head by itself with one shared scale,
with a scale of its own, or all heads' features at once."""


@dataclass(frozen=True, kw_only=True)
class Rotary:
    """How positions turn queries and keys.

    Attributes:
        frequencies: by how much each pair of features turns a position. Fewer than head_dim / 2:
            the features after them don't turn.
        magnitude: what the turned features are multiplied with (yarn, longrope).
    """

    frequencies: Frequencies
    magnitude: float = 1.0

    @property
    def pairs(self) -> int:
        """How many pairs of features turn."""
        return len(self.frequencies.at(self.frequencies.regime(0)))


@dataclass(frozen=True, kw_only=True)
class Experts:
    """A mixture of experts in the place of an MLP.

    Attributes:
        count: how many there are.
        used: how many of them a position goes through.
        renormalised: whether the shares of those used are made to sum to 1.
    """

    count: int
    used: int
    renormalised: bool


@dataclass(frozen=True, kw_only=True)
class LayerConfig:
    """What may differ from layer to layer.

    Attributes:
        intermediate: features inside the MLP, or inside each expert.
        rotary: how positions turn queries and keys; ``None``: not at all.
        window: how many positions back a position sees, itself included; ``None``: all.
        experts: in the place of one MLP.
        attention_scale: what scores are multiplied with; ``None``: 1 / √head_dim.
    """

    intermediate: int
    rotary: Rotary | None = None
    window: int | None = None
    experts: Experts | None = None
    attention_scale: float | None = None


@dataclass(frozen=True, kw_only=True)
class DecoderConfig:
    """A decoder, resolved and checked by its family.

    Attributes:
        vocab_size: how many candidates the head scores.
        hidden: features of the hidden state.
        heads, kv_heads: query heads, and the key/value heads that they share in equal groups.
        head_dim: features a head.
        context_length: the most positions.
        layers: one entry a layer; equal layers may share one object.
        norm, norm_eps: the kind of all norms, and their ε.
        arrangement: where they stand in a layer.
        final_norm: whether one stands before the head.
        qk_norm: whether and how queries and keys are normalised.
        attention_cap: scores are squashed smoothly into ±this.
        activation: the MLP's, a name in ``parts.mlp.ACTIVATIONS``.
        gated: down(activation(gate(x)) · up(x)), or else down(activation(up(x))).
        biases: which roles (``roles.py``) have one, of products and of layer norms.
        embedding_width: features of the embedding where that isn't ``hidden``: then it is
            projected to hidden, and hidden back to it before the head.
        embedding_scale: what embeddings are multiplied with.
        position_rows: rows of a table of learned positions; 0: there is none.
        position_offset: the row of the first position.
        residual_scale: what a branch is multiplied with before it is added.
        tied_head: the head is the embedding.
        logit_scale: what logits are multiplied with.
        logit_cap: logits are squashed smoothly into ±this.
    """

    vocab_size: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    context_length: int
    layers: tuple[LayerConfig, ...]
    norm: NormKind = "rms"
    norm_eps: float
    arrangement: Arrangement = "pre"
    final_norm: bool = True
    qk_norm: QKNorm | None = None
    attention_cap: float | None = None
    activation: str = "silu"
    gated: bool = True
    biases: frozenset[str] = frozenset()
    embedding_width: int | None = None
    embedding_scale: float = 1.0
    position_rows: int = 0
    position_offset: int = 0
    residual_scale: float = 1.0
    tied_head: bool = False
    logit_scale: float = 1.0
    logit_cap: float | None = None

    def each_layer(self, change: Callable[[int, LayerConfig], LayerConfig]) -> DecoderConfig:
        """The same decoder with its layers changed one by one."""
        return replace(self, layers=tuple(change(*each) for each in enumerate(self.layers)))
