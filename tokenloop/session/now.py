"""What is held now: a distribution, the sampler's trace on it, and the draw that will happen."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tokenloop.records import Choice
from tokenloop.sampling import Candidates, SamplerSettings, Trace, run_chain
from tokenloop.session.recorder import Luck, pending_choice
from tokenloop.session.vocabulary import Vocabulary


@dataclass(frozen=True)
class Dials:
    """All that a person can turn without a pass.

    Attributes:
        settings: the sampler's.
        seed: where the draws come from.
        shown: candidates that a record shows.
    """

    settings: SamplerSettings
    seed: int
    shown: int


@dataclass(frozen=True, eq=False)
class Now:
    """The distribution after a prefix and what the dials make of it.

    Attributes:
        raw: what the model said.
        trace: the chain on it.
        choice: the record of both, with the pending draw.
        sample_ms: what chain, draw and record took.
    """

    raw: Candidates
    trace: Trace
    choice: Choice
    sample_ms: float


def consider(
    raw: Candidates, ids: Sequence[int], attempt: int, dials: Dials, vocabulary: Vocabulary
) -> Now:
    """Let the sampler look at a distribution.

    Args:
        raw: the distribution after ``ids``.
        ids: the prefix.
        attempt: how often the next position was rolled again.
        dials: settings, seed, candidates shown.
        vocabulary: for labels.

    Raises:
        DistributionError, SettingError: as :func:`tokenloop.sampling.run_chain`.
    """
    start = time.perf_counter()
    trace = run_chain(raw, ids, dials.settings)
    choice = _choose(trace, len(ids), attempt, dials, vocabulary)
    return Now(raw, trace, choice, (time.perf_counter() - start) * 1e3)


def rolled(now: Now, attempt: int, dials: Dials, vocabulary: Vocabulary) -> Now:
    """The same distribution and trace under another number."""
    choice = _choose(now.trace, now.choice.position, attempt, dials, vocabulary)
    return replace(now, choice=choice)


def _choose(
    trace: Trace, position: int, attempt: int, dials: Dials, vocabulary: Vocabulary
) -> Choice:
    return pending_choice(
        trace,
        Luck(dials.seed, position, attempt),
        vocabulary,
        order=dials.settings.order,
        greedy=dials.settings.greedy,
        shown=dials.shown,
    )
