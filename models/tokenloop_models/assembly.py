"""Putting a decoder together from its settings and weights, once, before the first pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from tokenloop_models.layers import Layer, kind_of_layer
from tokenloop_models.parts.attention import Attention
from tokenloop_models.parts.ends import Embedding, Head
from tokenloop_models.parts.experts import MixtureOfExperts
from tokenloop_models.parts.mlp import ACTIVATIONS, MLP, GatedMLP, PlainMLP
from tokenloop_models.parts.norms import (
    LayerNorm,
    Norm,
    NormAcrossHeads,
    NormOfEachHead,
    QueryKeyNorm,
    RMSNorm,
)
from tokenloop_models.parts.rope import RotaryTable
from tokenloop_models.roles import NORMS

if TYPE_CHECKING:
    from tokenloop_models.config import DecoderConfig, Experts, LayerConfig
    from tokenloop_models.products import Products
    from tokenloop_models.weights import Weights


class Assembly:
    """Reads weights and makes the parts of a decoder of them.

    Attributes:
        windows: the windows that layers look through, each once.
        tables: the rotary tables that layers turn by, each once.
    """

    def __init__(
        self, config: DecoderConfig, weights: Weights, products: Products, device: torch.device
    ) -> None:
        """Find out what layers have in common; nothing is read yet."""
        self._config = config
        self._weights = weights
        self._products = products
        layers = config.layers
        self.windows = list(dict.fromkeys(layer.window for layer in layers))
        self._rotaries = list(dict.fromkeys(each.rotary for each in layers if each.rotary))
        self.tables = [
            RotaryTable(
                rotary.frequencies,
                rotary.magnitude,
                pairs=config.head_dim // 2,
                limit=config.context_length,
                device=device,
            )
            for rotary in self._rotaries
        ]

    def embedding(self) -> Embedding:
        """Read the embedding, and the positions where they are learned."""
        config, weights, products = self._config, self._weights, self._products
        projected = config.embedding_width is not None
        positions = weights.one("positions") if config.position_rows else None
        return Embedding(
            products.embedding(),
            scale=config.embedding_scale,
            project=products.make("project_in") if projected else None,
            positions=None if positions is None else positions[config.position_offset :],
        )

    def head(self) -> Head:
        """Read the head, or take the embedding for it."""
        config, products = self._config, self._products
        projected = config.embedding_width is not None
        return Head(
            products.tied_head() if config.tied_head else products.make("head"),
            norm=self._norm("norm") if config.final_norm else None,
            project=products.make("project_out") if projected else None,
            scale=config.logit_scale,
            cap=config.logit_cap,
        )

    def layer(self, index: int) -> Layer:
        """Read a layer."""
        config = self._config
        layer = config.layers[index]
        attention = self._attention(index, layer)
        mlp = self._mlp(index) if layer.experts is None else self._experts(index, layer.experts)
        norms = {role: self._norm(role, index) for role in NORMS[config.arrangement]}
        return kind_of_layer(config)(attention, mlp, norms, config.residual_scale)

    def _attention(self, index: int, layer: LayerConfig) -> Attention:
        config = self._config
        return Attention(
            index,
            self._products.make("q", "k", "v", layer=index),
            self._products.make("o", layer=index),
            heads=config.heads,
            kv_heads=config.kv_heads,
            dim=config.head_dim,
            norm=None if config.qk_norm is None else self._query_key_norm(index),
            turn=None if layer.rotary is None else self._rotaries.index(layer.rotary),
            sight=self.windows.index(layer.window),
            scale=layer.attention_scale,
            cap=config.attention_cap,
        )

    def _query_key_norm(self, index: int) -> QueryKeyNorm:
        config, weights = self._config, self._weights
        if config.qk_norm == "across_heads":
            query, key = self._norm("q_norm", index), self._norm("k_norm", index)
            return NormAcrossHeads(query, key, config.heads)
        query_weight = weights.one("q_norm", index).expand(config.heads, -1)
        key_weight = weights.one("k_norm", index).expand(config.kv_heads, -1)
        both = torch.cat([query_weight, key_weight])
        return NormOfEachHead(both, config.norm_eps, centred=config.norm == "layer")

    def _mlp(self, index: int, expert: int | None = None) -> MLP:
        config = self._config
        prefix = "" if expert is None else "expert_"
        up, down = f"{prefix}up", self._products.make(f"{prefix}down", layer=index, expert=expert)
        activation = ACTIVATIONS[config.activation]
        if config.gated:
            gate_up = self._products.make(f"{prefix}gate", up, layer=index, expert=expert)
            return GatedMLP(gate_up, down, activation)
        return PlainMLP(self._products.make(up, layer=index, expert=expert), down, activation)

    def _experts(self, index: int, experts: Experts) -> MixtureOfExperts:
        return MixtureOfExperts(
            self._products.make("router", layer=index),
            [self._mlp(index, expert) for expert in range(experts.count)],
            used=experts.used,
            renormalised=experts.renormalised,
        )

    def _norm(self, role: str, layer: int = 0) -> Norm:
        weight = self._weights.one(role, layer)
        if self._config.norm == "rms":
            return RMSNorm(weight, self._config.norm_eps)
        return LayerNorm(weight, self._weights.joined_bias((role,), layer), self._config.norm_eps)
