"""The chain: the stages in their order, with a trace of what each one did."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from tokenloop.errors import DistributionError
from tokenloop.sampling.candidates import Candidates, Floats, Ids
from tokenloop.sampling.memory import keep_freed_memory
from tokenloop.sampling.settings import SamplerSettings
from tokenloop.sampling.stages import STAGES, Context, Effect, Situation, Stage, Values
from tokenloop.sampling.stages.stage import ONE_LEFT


@dataclass(frozen=True)
class Outcome:
    """What one stage did.

    Attributes:
        name: the stage.
        values: its settings.
        before, after: the candidates that it got and left.
        skipped: why it changed nothing, or ``None``.
        note: what else is worth saying.
        definition: which definition is active where the traditions differ.
        figures: what the stage found, by name.
    """

    name: str
    values: Values
    before: Candidates
    after: Candidates
    skipped: str | None
    note: str | None
    definition: str | None
    figures: Values

    @property
    def mass_cut(self) -> float:
        """Probability (of what entered) that the stage cut, in [0, 1]."""
        if len(self.after) == len(self.before):
            return 0.0
        cut = np.ones(int(self.before.ids[-1]) + 1, dtype=np.bool_)  # by id
        cut[self.after.ids] = False
        return float(self.before.probabilities @ cut[self.before.ids])


@dataclass(frozen=True)
class Trace:
    """The whole chain on one distribution.

    Attributes:
        raw: what the model said.
        outcomes: each stage, in order.
    """

    raw: Candidates
    outcomes: tuple[Outcome, ...]

    @property
    def final(self) -> Candidates:
        """What is drawn from."""
        return self.outcomes[-1].after

    def cut_by(self, ids: Ids) -> list[str | None]:
        """The stage that cut each id, or ``None`` for a survivor."""
        names: list[str | None] = [None] * len(ids)
        for outcome in reversed(self.outcomes):
            if len(outcome.after) < len(outcome.before):
                _, left = outcome.after.locate(ids)
                for index in np.flatnonzero(~left):
                    names[index] = outcome.name
        return names

    def probabilities_after(self, ids: Ids) -> NDArray[np.float64]:
        """(stages, len(ids)) probability of each id after each stage."""
        rows: list[Floats] = []
        for outcome in self.outcomes:
            same = rows and outcome.after is outcome.before
            rows.append(rows[-1] if same else outcome.after.probabilities_of(ids))
        return np.stack(rows)


def raw_candidates(logits: NDArray[np.float32]) -> Candidates:
    """The model's logits (vocab,) as candidates; minus infinity is no candidate.

    Raises:
        DistributionError: a logit is NaN or plus infinity, or none is finite.
    """
    keep_freed_memory()
    finite = np.isfinite(logits)
    scores = logits.astype(np.float64)
    if not finite.all():
        bad = np.flatnonzero(np.isnan(scores) | (scores == np.inf))
        if len(bad):
            value = "NaN" if np.isnan(scores[bad[0]]) else "infinite"
            raise DistributionError(f"the logit of token {bad[0]} is {value}: nothing can be drawn")
        if not finite.any():
            raise DistributionError("no token has a finite logit: nothing can be drawn")
        ids = np.flatnonzero(finite)
        return Candidates(ids, scores[ids])
    return Candidates(_ids_below(len(scores)), scores)


@lru_cache(maxsize=2)
def _ids_below(size: int) -> Ids:
    """All ids of a vocabulary: made once, never written to."""
    ids = np.arange(size)
    ids.flags.writeable = False
    return ids


def run_chain(raw: Candidates, situation: Situation, settings: SamplerSettings) -> Trace:
    """Run every stage of the settings' chain.

    Args:
        raw: what the model said.
        situation: where the draw stands.
        settings: the sampler's.

    Returns:
        The trace; its ``final`` is what is drawn from.

    Raises:
        DistributionError: a stage left no candidate (everything was banned).
        SettingError: a setting does not fit this vocabulary.
    """
    context = Context(settings, situation, vocab_size=int(raw.ids[-1]) + 1)
    outcomes: list[Outcome] = []
    left = raw
    for name in settings.chain:
        outcome = _run_stage(STAGES[name], left, context)
        outcomes.append(outcome)
        left = outcome.after
    return Trace(raw, tuple(outcomes))


SWITCHED_OFF = "off: switched off"


def _run_stage(stage: Stage, left: Candidates, context: Context) -> Outcome:
    off = SWITCHED_OFF if stage.name in context.settings.off else stage.why_off(context)
    effect = Effect(left, skipped=off)
    if off is None:
        done = stage.apply(left, context)
        effect = done if isinstance(done, Effect) else Effect(done)
    after = effect.after
    if not len(after):
        raise DistributionError(f"{stage.name} leaves no candidate: nothing can be drawn")
    skipped = effect.skipped
    if off is None and len(left) == 1:
        skipped = ONE_LEFT
    elif skipped is None and after is left:
        skipped = stage.no_effect
    return Outcome(
        name=stage.name,
        values=stage.values(context),
        before=left,
        after=after,
        skipped=skipped,
        note=effect.note or (stage.note(context) if off is None else None),
        definition=stage.definition(context),
        figures=effect.figures,
    )
