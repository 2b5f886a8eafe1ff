"""How the results of a pass come to the host: as one piece, with one copy and one wait.

The sampler works on all logits, in float64, on the host: it has to be the same function whatever
the device, bit for bit, and its stages are looked at one by one. So the logits of every step come
down (0.5 MB for 128k candidates, 10 µs over PCIe), and what else is wanted travels with them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from tokenloop_models.stopwatch import Stopwatch


@dataclass(frozen=True)
class Parcel:
    """Several tensors as one piece of memory.

    Attributes:
        content: uint8, (bytes,).
        layout: dtype and shape of each, in order.
    """

    content: torch.Tensor
    layout: tuple[tuple[torch.dtype, torch.Size], ...]


def packed(tensors: Sequence[torch.Tensor]) -> Parcel:
    """Put tensors, each of at least one dimension, behind each other."""
    parts = [each.contiguous().view(torch.uint8).flatten() for each in tensors]
    content = parts[0] if len(parts) == 1 else torch.cat(parts)
    return Parcel(content, tuple((each.dtype, each.shape) for each in tensors))


class Landing:
    """Where results land: page-locked memory, which a device writes to without waiting for us."""

    def __init__(self, device: torch.device) -> None:
        """Take no memory yet."""
        self._direct = device.type == "cpu"
        self._room = torch.empty(0, dtype=torch.uint8)

    def bring(self, tensors: Sequence[torch.Tensor], watch: Stopwatch) -> list[NDArray[Any]]:
        """Bring tensors to the host, ending the lap ``copy``."""
        if self._direct:  # they are there
            arrays: list[NDArray[Any]] = [each.numpy() for each in tensors]
            watch.lap("copy")
            return arrays
        return self.fetch(packed(tensors), watch)

    def fetch(self, parcel: Parcel, watch: Stopwatch) -> list[NDArray[Any]]:
        """Bring a parcel to the host, ending the lap ``copy``: the one wait of a pass.

        Returns:
            Arrays of their own: page-locked memory is scarce, and is used again by the next pass.
        """
        size = parcel.content.numel()
        if size > self._room.numel():
            self._room = torch.empty(size, dtype=torch.uint8, pin_memory=not self._direct)
        self._room[:size].copy_(parcel.content, non_blocking=True)
        watch.lap("copy")
        watch.wait()
        return _unpacked(self._room[:size].numpy(), parcel.layout)


def _unpacked(
    content: NDArray[np.uint8], layout: Sequence[tuple[torch.dtype, torch.Size]]
) -> list[NDArray[Any]]:
    arrays: list[NDArray[Any]] = []
    start = 0
    for dtype, shape in layout:
        stop = start + dtype.itemsize * shape.numel()
        kind = np.dtype(str(dtype).removeprefix("torch."))
        arrays.append(content[start:stop].copy().view(kind).reshape(shape))
        start = stop
    return arrays
