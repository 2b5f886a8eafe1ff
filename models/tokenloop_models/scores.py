"""What the model thought at each position of a prefill, reduced to what a person can look at.

The logits of a long prompt don't fit into memory (8,192 × 49,152 float32 are 1.5 GiB): they are
made and reduced some rows at a time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

MOST_LOGITS = 2**23  # at a time: 32 MiB
FAR_BELOW = -1000.0  # e to this is 0 in float32


@dataclass(frozen=True, kw_only=True)
class Scores:
    """For each of n new positions, the distribution after it.

    Attributes:
        entropy_bits: float64, (n,).
        log_sum_exp: natural logarithm of the sum of all e^logit, float64, (n,): a candidate's
            logprob is its logit minus this.
        top_ids: the best candidates, by descending logit, lowest id first among equals; int64,
            (n, top).
        top_logits: theirs, float32, (n, top).
        next_logit: of the id that actually follows, float32, (n - 1,).
        next_rank: its rank in the order of ``top_ids``, from 1; int64, (n - 1,).
    """

    entropy_bits: NDArray[np.float64]
    log_sum_exp: NDArray[np.float64]
    top_ids: NDArray[np.int64]
    top_logits: NDArray[np.float32]
    next_logit: NDArray[np.float32]
    next_rank: NDArray[np.int64]

    @staticmethod
    def of(columns: Sequence[NDArray[Any]]) -> Scores:
        """Name columns that came to the host in this order; those of a single position lack two."""
        none = (np.empty(0, np.float32), np.empty(0, np.int64))
        entropy, log_sum, ids, logits, next_logit, next_rank = (*columns, *none)[:6]
        return Scores(
            entropy_bits=entropy,
            log_sum_exp=log_sum,
            top_ids=ids,
            top_logits=logits,
            next_logit=next_logit,
            next_rank=next_rank,
        )


class Scorer:
    """Collects scores as a prefill goes on; everything stays on the device until the end."""

    def __init__(
        self, head: Callable[[torch.Tensor], torch.Tensor], top: int, vocab_size: int
    ) -> None:
        """Start with none.

        Args:
            head: (rows, hidden) → float32 logits, (rows, vocabulary).
            top: how many candidates to keep a position.
            vocab_size: how many there are.
        """
        self._head = head
        self._top = min(top, vocab_size)
        self._rows = max(MOST_LOGITS // vocab_size, 1)
        self._parts: list[tuple[torch.Tensor, ...]] = []

    def add(self, hidden: torch.Tensor, following: torch.Tensor) -> torch.Tensor:
        """Score positions.

        Args:
            hidden: the last layer's, (positions, hidden).
            following: the id after each position, int64, (positions,); any for the very last.

        Returns:
            The last position's logits, float32, (vocabulary,).
        """
        for start in range(0, hidden.shape[0], self._rows):
            logits = self._head(hidden[start : start + self._rows])
            self._parts.append(_reduced(logits, following[start : start + self._rows], self._top))
        return logits[-1].clone()

    def columns(self) -> list[torch.Tensor]:
        """Those of :class:`Scores`, in its order, still on the device."""
        *of_each, next_logit, next_rank = (
            torch.cat(column) for column in zip(*self._parts, strict=True)
        )
        return [*of_each, next_logit[:-1], next_rank[:-1]]


def _reduced(logits: torch.Tensor, following: torch.Tensor, top: int) -> tuple[torch.Tensor, ...]:
    """Reduce (rows, vocabulary) logits to the columns of :class:`Scores`."""
    chosen = logits.gather(-1, following[:, None])
    better = (logits > chosen).count_nonzero(dim=-1)
    earlier = torch.arange(logits.shape[-1], device=logits.device) < following[:, None]
    equal = (logits == chosen).logical_and_(earlier).count_nonzero(dim=-1)
    return *candidates(logits, top), chosen[:, 0], 1 + better + equal


def candidates(logits: torch.Tensor, top: int) -> tuple[torch.Tensor, ...]:
    """Reduce (rows, vocabulary) logits to the columns that need no following id.

    Returns:
        As in :class:`Scores`: entropy_bits, log_sum_exp, top_ids, top_logits.
    """
    best = logits.amax(dim=-1, keepdim=True)
    below = (logits - best).clamp_(min=FAR_BELOW)  # (rows, vocabulary), at most 0
    weight = below.exp()
    # torch adds float32 in a cascade, so that sums this long keep seven digits; adding them as
    # float64 would first copy everything
    total = weight.sum(dim=-1).double()
    # H = ln Σ e^z − Σ z e^z / Σ e^z, with z the logits below the best one
    mean = weight.mul_(below).sum(dim=-1).double() / total
    entropy_bits = (total.log() - mean) / math.log(2)
    log_sum = best[:, 0].double() + total.log()

    ids = best_ids(logits, top)
    return entropy_bits, log_sum, ids, logits.gather(-1, ids)


def best_ids(logits: torch.Tensor, top: int) -> torch.Tensor:
    """Find the best candidates, by descending logit, lowest id first among equals.

    ``topk`` leaves open which of several equals it takes, and in what order. On a CPU the order is
    mended afterwards and rows with equals across the border are done again, which takes a tenth of
    the time that exact keys for all take; on CUDA looking at the values would mean to wait.

    Args:
        logits: float32, (rows, vocabulary).
        top: how many, at most the vocabulary.

    Returns:
        int64, (rows, top).
    """
    if not logits.is_cpu or top == logits.shape[-1]:
        return order_keys(logits).topk(top, dim=-1).indices
    values, ids = logits.topk(top + 1, dim=-1)
    tied = (values[:, top - 1] == values[:, top]) | values[:, 0].isnan()
    ids, order = ids[:, :top].sort(dim=-1)
    values = values[:, :top].gather(-1, order)
    ids = ids.gather(-1, values.sort(dim=-1, descending=True, stable=True).indices)
    if bool(tied.any()):
        ids[tied] = order_keys(logits[tied]).topk(top, dim=-1).indices
    return ids


def order_keys(logits: torch.Tensor) -> torch.Tensor:
    """Integers that order candidates by descending logit, lowest id first among equals.

    The bits of a float32 order like a signed integer once those of negative numbers are flipped;
    the id goes below, so that no two keys are equal.

    Args:
        logits: float32, (rows, vocabulary).

    Returns:
        int64, (rows, vocabulary), the larger the better.
    """
    bits = (logits + 0.0).view(torch.int32)  # + 0.0 makes −0 a 0
    ordered = bits ^ ((bits >> 31) & 0x7FFFFFFF)
    ids = torch.arange(logits.shape[-1], device=logits.device)
    return (ordered.long() << 32) - ids
