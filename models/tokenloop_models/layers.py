"""The layers of a decoder: attention and MLP, and where the norms stand around them.

One class an arrangement (``config.Arrangement``), each two lines of arithmetic. Which one it is is
decided when the decoder is put together, so that a pass asks nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from tokenloop_models.config import DecoderConfig
    from tokenloop_models.parts.attention import Attention
    from tokenloop_models.parts.experts import MixtureOfExperts
    from tokenloop_models.parts.mlp import MLP
    from tokenloop_models.parts.norms import Norm
    from tokenloop_models.parts.span import Span, Store


class Layer(ABC):
    """Attention and MLP with their norms; a norm that the arrangement lacks is never called."""

    __slots__ = ("attention", "attention_norm", "attention_post_norm", "mlp", "mlp_norm",
                 "mlp_post_norm", "scale")  # fmt: skip
    attention_norm: Norm
    attention_post_norm: Norm
    mlp_norm: Norm
    mlp_post_norm: Norm

    def __init__(
        self,
        attention: Attention,
        mlp: MLP | MixtureOfExperts,
        norms: dict[str, Norm],
        scale: float = 1.0,
    ) -> None:
        """Take the parts.

        Args:
            attention: sees other positions.
            mlp: sees each position by itself.
            norms: those of the arrangement, by role (``roles.NORMS``).
            scale: what the two branches are multiplied with (``ScaledPreNorm`` only).
        """
        self.attention = attention
        self.mlp = mlp
        self.scale = scale
        for role, norm in norms.items():
            setattr(self, role, norm)

    @abstractmethod
    def __call__(self, x: torch.Tensor, span: Span, cache: Store) -> torch.Tensor:
        """(positions, hidden) → (asked, hidden): those positions that the span asks for."""


class PreNorm(Layer):
    """Llama, GPT-2 and most others: what is normalised goes into a branch, never past it."""

    __slots__ = ()

    def __call__(self, x: torch.Tensor, span: Span, cache: Store) -> torch.Tensor:
        """X + attention(norm(x)), then x + mlp(norm(x))."""
        x = span.asked(x) + self.attention(self.attention_norm(x), span, cache)
        return x + self.mlp(self.mlp_norm(x))


class ScaledPreNorm(Layer):
    """Granite: the same with branches made smaller."""

    __slots__ = ()

    def __call__(self, x: torch.Tensor, span: Span, cache: Store) -> torch.Tensor:
        """X + scale · attention(norm(x)), then x + scale · mlp(norm(x))."""
        attended = self.attention(self.attention_norm(x), span, cache)
        x = torch.add(span.asked(x), attended, alpha=self.scale)
        return torch.add(x, self.mlp(self.mlp_norm(x)), alpha=self.scale)


class Sandwich(Layer):
    """Gemma 2 and 3: norms before and after each branch."""

    __slots__ = ()

    def __call__(self, x: torch.Tensor, span: Span, cache: Store) -> torch.Tensor:
        """X + norm(attention(norm(x))), then x + norm(mlp(norm(x)))."""
        attended = self.attention(self.attention_norm(x), span, cache)
        x = span.asked(x) + self.attention_post_norm(attended)
        return x + self.mlp_post_norm(self.mlp(self.mlp_norm(x)))


class PostNorm(Layer):
    """OLMo 2: norms after each branch only."""

    __slots__ = ()

    def __call__(self, x: torch.Tensor, span: Span, cache: Store) -> torch.Tensor:
        """X + norm(attention(x)), then x + norm(mlp(x))."""
        x = span.asked(x) + self.attention_post_norm(self.attention(x, span, cache))
        return x + self.mlp_post_norm(self.mlp(x))


class NormAfterSum(Layer):
    """The first transformer, and OPT-350M: the hidden state itself is normalised."""

    __slots__ = ()

    def __call__(self, x: torch.Tensor, span: Span, cache: Store) -> torch.Tensor:
        """norm(x + attention(x)), then norm(x + mlp(x))."""
        x = self.attention_norm(span.asked(x) + self.attention(x, span, cache))
        return self.mlp_norm(x + self.mlp(x))


class Parallel(Layer):
    """GPT-NeoX: both branches see the same hidden state, each through a norm of its own."""

    __slots__ = ()

    def __call__(self, x: torch.Tensor, span: Span, cache: Store) -> torch.Tensor:
        """X + attention(norm(x)) + mlp(norm'(x))."""
        attended = self.attention(self.attention_norm(x), span, cache)
        x = span.asked(x)
        return x + attended + self.mlp(self.mlp_norm(x))


class ParallelShared(Layer):
    """Phi: both branches see the same normalised hidden state."""

    __slots__ = ()

    def __call__(self, x: torch.Tensor, span: Span, cache: Store) -> torch.Tensor:
        """Y = norm(x); x + attention(y) + mlp(y)."""
        normed = self.attention_norm(x)
        return span.asked(x) + self.attention(normed, span, cache) + self.mlp(span.asked(normed))


ARRANGEMENTS: dict[str, type[Layer]] = {
    "pre": PreNorm,
    "sandwich": Sandwich,
    "post": PostNorm,
    "after_sum": NormAfterSum,
    "parallel": Parallel,
    "parallel_shared": ParallelShared,
}


def kind_of_layer(config: DecoderConfig) -> type[Layer]:
    """The class of a decoder's layers."""
    if config.residual_scale != 1.0:  # only known of Granite, whose norms stand before
        return ScaledPreNorm
    return ARRANGEMENTS[config.arrangement]
