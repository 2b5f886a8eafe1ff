"""Two chains on the same logits, under the same luck."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tokenloop.records import ChainRecord, ComparedCandidate, Comparison
from tokenloop.sampling import SamplerSettings, Trace, run_chain
from tokenloop.sampling.candidates import Floats, Ids
from tokenloop.session.laboratory.ranks import ranks_of
from tokenloop.session.now import Now
from tokenloop.session.recorder import pending_draw, stage_records
from tokenloop.session.situations import Situate
from tokenloop.session.vocabulary import Vocabulary

Named = tuple[str, SamplerSettings]
"""Settings and the name that a person knows them by."""


def compare(
    now: Now, left: Named, right: Named, situate: Situate, vocabulary: Vocabulary, *, shown: int
) -> Comparison:
    """Run two chains on the held logits.

    Args:
        now: what is held.
        left: settings with a name.
        right: others.
        situate: gives the situation under either's settings.
        vocabulary: for labels.
        shown: candidates that the record shows.

    Raises:
        DistributionError, SettingError: either leaves nothing to draw from, or does not fit.
    """
    (_, left_settings), (_, right_settings) = left, right
    left_trace = run_chain(now.raw, situate(left_settings), left_settings)
    right_trace = run_chain(now.raw, situate(right_settings), right_settings)
    left_final, right_final = left_trace.final, right_trace.final
    ids = np.union1d(left_final.ids, right_final.ids)
    both = len(left_final) + len(right_final) - len(ids)
    left_p, right_p = left_final.probabilities_of(ids), right_final.probabilities_of(ids)
    differences = np.abs(left_p - right_p)
    most = _largest(differences, np.maximum(left_p, right_p), shown)
    return Comparison(
        position=now.choice.position,
        left=_chain(now, left, left_trace, vocabulary),
        right=_chain(now, right, right_trace, vocabulary),
        candidates=_compared(now, left_trace, right_trace, ids[most], vocabulary),
        only_left=len(left_final) - both,
        only_right=len(right_final) - both,
        both=both,
        total_variation=min(1.0, float(differences.sum()) / 2),
    )


def _largest(differences: Floats, levels: Floats, count: int) -> NDArray[np.intp]:
    """Indices of the largest differences; where they are equal, the likelier candidate is first."""
    count = min(count, len(differences))
    least = np.partition(differences, len(differences) - count)[len(differences) - count]
    reaching = np.flatnonzero(differences >= least)
    return reaching[np.lexsort((-levels[reaching], -differences[reaching]))][:count]


def _chain(now: Now, named: Named, trace: Trace, vocabulary: Vocabulary) -> ChainRecord:
    name, settings = named
    chosen, draw = pending_draw(trace, now.luck, greedy=settings.greedy)
    return ChainRecord(
        name=name,
        order=settings.order,
        stages=stage_records(trace),
        survivors=len(trace.final),
        entropy_bits=trace.final.entropy_bits,
        chosen=vocabulary.token(chosen),
        draw=draw,
    )


def _compared(
    now: Now, left: Trace, right: Trace, ids: Ids, vocabulary: Vocabulary
) -> tuple[ComparedCandidate, ...]:
    rows = zip(
        ids.tolist(),
        ranks_of(now.raw, ids).tolist(),
        now.raw.probabilities_of(ids).tolist(),
        left.final.probabilities_of(ids).tolist(),
        right.final.probabilities_of(ids).tolist(),
        left.cut_by(ids),
        right.cut_by(ids),
        strict=True,
    )
    return tuple(
        ComparedCandidate(
            **vocabulary.fields(token_id),
            rank=rank,
            p=p,
            left_p=left_p,
            right_p=right_p,
            left_cut_by=left_cut_by,
            right_cut_by=right_cut_by,
        )
        for token_id, rank, p, left_p, right_p, left_cut_by, right_cut_by in rows
    )
