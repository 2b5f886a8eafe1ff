"""The self-check: what is held against the same prefix computed afresh, without a cache."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from tokenloop.records import CheckRecord
from tokenloop.sampling import raw_candidates
from tokenloop.session.now import Dials, Now, consider
from tokenloop.session.runtime import IsCancelled, OnProgress, Runtime
from tokenloop.session.vocabulary import Vocabulary


def check(
    now: Now,
    ids: Sequence[int],
    reference: Runtime,
    dials: Dials,
    vocabulary: Vocabulary,
    *,
    dtype: str,
    progress: OnProgress | None = None,
    cancelled: IsCancelled | None = None,
) -> CheckRecord:
    """Compute ``ids`` afresh and compare; nothing of a session is touched.

    Args:
        now: what the session holds after ``ids``.
        ids: the prefix.
        reference: the same model in float32.
        dials: the session's, for the same draw on the fresh logits.
        vocabulary: for labels.
        dtype: what the session's passes ran in, for the record.
        progress: told of positions done.
        cancelled: asked between chunks.

    Raises:
        Cancelled: stopped between chunks.
        ModelError: the reference can't run them.
    """
    start = time.perf_counter()
    output = reference.forward(ids, reference.new_cache(), progress=progress, cancelled=cancelled)
    fresh_ms = (time.perf_counter() - start) * 1e3
    raw = raw_candidates(output.logits[: reference.tokenizer.size])
    fresh = consider(raw, now.situation, now.choice.draw.attempt, dials, vocabulary)
    difference = np.abs(now.raw.logits - raw.logits)
    largest = int(difference.argmax())
    return CheckRecord(
        positions=len(ids),
        dtype=dtype,
        largest_logit_diff=float(difference[largest]),
        at=vocabulary.token(int(raw.ids[largest])),
        largest_p_diff=float(np.abs(now.raw.probabilities - raw.probabilities).max()),
        chosen=vocabulary.token(now.choice.chosen.id),
        fresh_chosen=vocabulary.token(fresh.choice.chosen.id),
        fresh_ms=fresh_ms,
    )
