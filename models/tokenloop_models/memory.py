"""Telling that memory ran out from everything else that can go wrong in torch."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import torch

from tokenloop_models.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def memory_for(what: str) -> Iterator[None]:
    """Turn running out of memory into one clean line; other faults stay what they are.

    Args:
        what: ends the line "not enough memory for …".

    Raises:
        ModelError: memory ran out.
    """
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if not _ran_out(error):
            raise
        raise ModelError(f"not enough memory for {what}") from None


def _ran_out(error: BaseException) -> bool:
    if isinstance(error, MemoryError | torch.OutOfMemoryError):
        return True
    # a CPU's allocator raises a plain RuntimeError
    return "not enough memory" in str(error) or "can't allocate memory" in str(error)
