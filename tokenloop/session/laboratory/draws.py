"""Many draws: what rolling again and again would give, against the distribution drawn from."""

from __future__ import annotations

import time

import numpy as np

from tokenloop.errors import SessionError, SettingError
from tokenloop.records import DrawCount, DrawsRecord
from tokenloop.sampling import invert_each, uniforms
from tokenloop.sampling.chi_square import chi_square
from tokenloop.session.now import Now
from tokenloop.session.recorder import rest
from tokenloop.session.vocabulary import Vocabulary

MOST_DRAWS = 1_000_000
"""About a second and 100 MB."""


def draw_many(now: Now, count: int, vocabulary: Vocabulary, *, shown: int) -> DrawsRecord:
    """Draw from the held distribution with the numbers of the first ``count`` attempts.

    They are the very tokens that so many rolls at this position would mark. Where a stage acts by
    chance (XTC), what it did for the held attempt stands for all of them.

    Args:
        now: what is held.
        count: draws.
        vocabulary: for labels.
        shown: candidates that the record shows.

    Raises:
        SettingError: too many draws, or none.
        SessionError: at T = 0 nothing is drawn.
    """
    if not 1 <= count <= MOST_DRAWS:
        raise SettingError("draws", count, f"a whole number from 1 to {MOST_DRAWS:,}")
    if now.choice.draw.u is None:
        raise SessionError("greedy draws no number: raise the temperature for many draws")
    start = time.perf_counter()
    final = now.trace.final
    ids = invert_each(final, uniforms(now.luck.seed, now.luck.position, np.arange(count)))
    counts = np.bincount(np.searchsorted(final.ids, ids), minlength=len(final))
    draw_ms = (time.perf_counter() - start) * 1e3
    test = chi_square(counts, final.probabilities)
    best = final.best(shown)
    return DrawsRecord(
        position=now.luck.position,
        draws=count,
        seed=now.luck.seed,
        counts=tuple(
            DrawCount(
                **vocabulary.fields(int(final.ids[index])),
                final_p=float(final.probabilities[index]),
                count=int(counts[index]),
            )
            for index in best.tolist()
        ),
        rest_count=count - int(counts[best].sum()),
        rest_p=rest(final.probabilities[best].tolist()) if len(best) < len(final) else 0.0,
        chi_square=test.statistic,
        degrees=test.degrees,
        p_value=test.p_value,
        draw_ms=draw_ms,
    )
