"""What a decoder needs to know of a model, whatever file it came from."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class DecoderConfig:
    """The sizes and settings of a decoder, resolved and checked by its family.

    Attributes:
        vocab_size: how many candidates the head scores.
        hidden: features of the hidden state.
        layers: how many.
        heads, kv_heads: query heads, and the key/value heads that they share in equal groups.
        head_dim: features a head.
        intermediate: features inside the MLP.
        context_length: the most positions.
        norm_eps: ε of the norms.
        activation: the MLP's, a name in ``parts.mlp.ACTIVATIONS``.
        rope_frequencies: by how much each pair of features turns a position, (head_dim / 2).
        tied_head: the head is the embedding.
        biases: which products of a layer have one: among q, k, v, o, gate, up, down.
    """

    vocab_size: int
    hidden: int
    layers: int
    heads: int
    kv_heads: int
    head_dim: int
    intermediate: int
    context_length: int
    norm_eps: float
    activation: str
    rope_frequencies: tuple[float, ...]
    tied_head: bool
    biases: frozenset[str]
