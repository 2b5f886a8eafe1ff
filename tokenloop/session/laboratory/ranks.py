"""The places of many candidates at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tokenloop.sampling import Candidates
from tokenloop.sampling.candidates import Ids


def ranks_of(raw: Candidates, ids: Ids) -> NDArray[np.intp]:
    """Ranks (m,) of candidates in the model's own order, from 1.

    Args:
        raw: what the model said.
        ids: (m,) candidates of it.
    """
    ranks = np.empty(len(raw), dtype=np.intp)
    ranks[raw.best(len(raw))] = np.arange(1, len(raw) + 1)
    return ranks[raw.locate(ids)[0]]
