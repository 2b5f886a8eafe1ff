"""A mixture of experts: many MLPs, of which each position goes through a few."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tokenloop_models.parts.linear import Product
    from tokenloop_models.parts.mlp import MLP


class MixtureOfExperts:
    """Σ share_e(x) · expert_e(x) over the experts with the largest shares (Shazeer et al., 2017).

    A position's shares are softmax(router(x)); those of the experts used may be made to sum to 1.
    """

    __slots__ = ("_renormalised", "_used", "experts", "router")

    def __init__(
        self, router: Product, experts: Sequence[MLP], *, used: int, renormalised: bool
    ) -> None:
        """Take the parts.

        Args:
            router: (experts, hidden).
            experts: the MLPs.
            used: how many of them each position goes through.
            renormalised: whether the shares of those are made to sum to 1.
        """
        self.router = router
        self.experts = experts
        self._used = used
        self._renormalised = renormalised

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """(rows, hidden) → (rows, hidden)."""
        shares, chosen = self._chosen(x)  # both (rows, used)
        mixed = torch.zeros_like(x)
        for index in torch.unique(chosen).tolist():
            rows, places = torch.where(chosen == index)
            answers = self.experts[index](x[rows]) * shares[rows, places, None]
            mixed.index_add_(0, rows, answers)
        return mixed

    def _chosen(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        shares, chosen = self.router(x).float().softmax(dim=-1).topk(self._used, dim=-1)
        if self._renormalised:
            shares = shares / shares.sum(dim=-1, keepdim=True)
        return shares.to(x.dtype), chosen
