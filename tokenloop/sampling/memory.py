"""What fresh memory costs, and how to pay for it once."""

from __future__ import annotations

from functools import cache

import numpy as np

LARGE = 24 << 20
"""Bytes; glibc learns from freed blocks of up to 32 MiB."""


@cache
def keep_freed_memory() -> None:
    """Have the C library keep what the sampler frees for the next time.

    glibc gives freed memory back to the system beyond twice the largest single block that it has
    seen freed, and getting it back costs 0.4 ms an array of 262,144: of the 15 ms that a chain over
    such a vocabulary took, 10 were that. A large block, taken and freed once and never touched,
    raises the mark. Other C libraries don't mind.
    """
    np.empty(LARGE, dtype=np.uint8)
