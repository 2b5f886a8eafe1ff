"""A matrix product with an optional bias."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, Protocol, TypeVar

import torch
import torch.nn.functional as F  # noqa: N812 - the name that every torch reader knows


class Product(Protocol):
    """A matrix product, however it is done."""

    def __call__(self, x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
        """Multiply: (rows, inputs) → (rows, outputs).

        Args:
            x: the rows.
            out: where the result goes, of one row only: (1, outputs), in the dtype of ``x``.
        """


Views = TypeVar("Views")


class Viewed(Generic[Views]):
    """A product whose result is only looked at through views.

    On a CPU the result of one row is written to where the last one was, so that its views are made
    once: each takes about a microsecond, and a decode would make ten of them in every layer. So it
    is not for two threads at once, nor, once called in inference mode, for calls outside of it.
    """

    __slots__ = ("_kept", "_product", "_views")

    def __init__(self, product: Product, views: Callable[[torch.Tensor], Views]) -> None:
        """Take the product, and what makes views of its result, (rows, outputs)."""
        self._product = product
        self._views = views
        self._kept: tuple[torch.Tensor, Views] | None = None

    def __call__(self, x: torch.Tensor) -> Views:
        """Multiply: (rows, inputs) → views, those of one row until it is called again."""
        if x.shape[0] != 1 or not x.is_cpu:
            return self._views(self._product(x))
        if self._kept is None:
            y = self._product(x)
            self._kept = y, self._views(y)
        else:
            self._product(x, out=self._kept[0])
        return self._kept[1]


SLICES = 8
FEW = 16
"""Rows up to which slices are faster: three take 0.28 ms instead of 1.26 (3,072 × 576)."""


def _many_rows() -> Callable[..., torch.Tensor]:
    """How float32 products of many rows are taken on a CPU.

    oneDNN's are as exact as those of the BLAS that torch calls, and took 4.3 ms instead of 5.4 for
    256 rows (3,072 × 576) on two cores of an EPYC. Its name begins with an underscore: it is tried.
    """

    def onednn(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None) -> torch.Tensor:
        y: torch.Tensor = product(x, weight, bias, "none", [], "")
        return y

    x, weight, bias = torch.eye(3, 4), torch.arange(8.0).view(2, 4), torch.ones(2)
    try:
        product = torch.ops.mkldnn._linear_pointwise
        works = torch.equal(onednn(x, weight, bias), F.linear(x, weight, bias))
    except (AttributeError, RuntimeError, TypeError):
        works = False
    return onednn if works else F.linear


MANY_ROWS = _many_rows()


class Linear:
    """y = x Wᵀ + b.

    A product with few rows is bound by reading the weights, and a plain call reads them on one core
    only. As a batch of slices, each the weights times the rows as columns, it runs on all of them,
    with one row near the memory's speed: all products of a 135M model in float32 took 13 ms on two
    cores of an EPYC, as plain calls 43 ms, as slices of row times transposed weights 23 ms.
    """

    __slots__ = ("_slices", "bias", "weight")

    def __init__(self, weight: torch.Tensor, bias: torch.Tensor | None = None) -> None:
        """Keep the weights.

        Args:
            weight: (outputs, inputs).
            bias: (outputs,).
        """
        self.weight = weight
        self.bias = bias
        outputs, inputs = weight.shape
        self._slices: torch.Tensor | None = None
        if weight.is_cpu and weight.dtype == torch.float32 and outputs % SLICES == 0:
            # (slices, outputs / slices, inputs), the same memory
            self._slices = weight.view(SLICES, outputs // SLICES, inputs)

    def __call__(self, x: torch.Tensor, *, out: torch.Tensor | None = None) -> torch.Tensor:
        """Multiply: see :class:`Product`."""
        rows = x.shape[0]
        if self._slices is None:
            y = F.linear(x, self.weight, self.bias)
            return y if out is None else out.copy_(y)
        if rows > FEW:
            return MANY_ROWS(x, self.weight, self.bias)
        columns = x.t().expand(SLICES, -1, -1)
        if out is not None:
            torch.bmm(self._slices, columns, out=out.view(SLICES, -1, 1))
            y = out
        else:
            y = torch.bmm(self._slices, columns)  # (slices, …, rows)
            y = y.view(-1, rows).t().contiguous()
        return y if self.bias is None else y.add_(self.bias)
