"""What is held now: a distribution, the sampler's trace on it, and the draw that will happen."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

from tokenloop.records import Choice
from tokenloop.sampling import Candidates, SamplerSettings, Situation, Trace, run_chain
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
        situation: where the draw stands.
        trace: the chain on it.
        luck: of the pending draw.
        choice: the record of both, with the pending draw.
        sample_ms: what chain, draw and record took.
    """

    raw: Candidates
    situation: Situation
    trace: Trace
    luck: Luck
    choice: Choice
    sample_ms: float


def consider(
    raw: Candidates, situation: Situation, attempt: int, dials: Dials, vocabulary: Vocabulary
) -> Now:
    """Let the sampler look at a distribution.

    Args:
        raw: the distribution after the situation's prefix.
        situation: where the draw stands; its chance is set here.
        attempt: how often the next position was rolled again.
        dials: settings, seed, candidates shown.
        vocabulary: for labels.

    Raises:
        DistributionError, SettingError: as :func:`tokenloop.sampling.run_chain`.
    """
    start = time.perf_counter()
    luck = Luck(dials.seed, len(situation.prefix), attempt)
    situation = replace(situation, chance=luck.chance)
    trace = run_chain(raw, situation, dials.settings)
    choice = pending_choice(
        trace,
        luck,
        vocabulary,
        order=dials.settings.order,
        greedy=dials.settings.greedy,
        shown=dials.shown,
    )
    return Now(raw, situation, trace, luck, choice, (time.perf_counter() - start) * 1e3)
