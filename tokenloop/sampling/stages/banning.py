"""Taking single tokens out."""

from __future__ import annotations

import numpy as np

from tokenloop.errors import SettingError
from tokenloop.sampling.candidates import Candidates, Ids
from tokenloop.sampling.stages.stage import Context


def ban(left: Candidates, ids: Ids) -> tuple[Candidates, list[int]]:
    """Take tokens out.

    Args:
        left: the candidates.
        ids: (m,) to be taken out; those that are no candidates do not matter.

    Returns:
        The rest (``left`` itself where nothing changed), and the ids that were taken out, the
        likeliest first.
    """
    index, here = left.locate(ids)
    index = np.unique(index[here])
    if not len(index):
        return left, []
    keep = np.ones(len(left), dtype=np.bool_)
    keep[index] = False
    likeliest = index[np.argsort(-left.logits[index], kind="stable")]
    return left.keep(keep), left.ids[likeliest].tolist()


def check_ids(name: str, ids: Ids, context: Context) -> None:
    """Refuse ids that the vocabulary does not have.

    Raises:
        SettingError: names the setting and the first of them.
    """
    beyond = ids[ids >= context.vocab_size]
    if len(beyond):
        raise SettingError(name, int(beyond[0]), f"ids from 0 to {context.vocab_size - 1}")
