"""The stages: each one a pure function from candidates to candidates.

A stage gets what is left, the settings and the situation, and returns what it leaves: the same
object where it does nothing. ``why_off`` says beforehand that its settings turn it off.
"""

from __future__ import annotations

from tokenloop.sampling.stages.bad_words import BAD_WORDS
from tokenloop.sampling.stages.bias import LOGIT_BIAS
from tokenloop.sampling.stages.cutoffs import EPSILON_CUTOFF, ETA_CUTOFF
from tokenloop.sampling.stages.cuts import MIN_P, TOP_K, TOP_P
from tokenloop.sampling.stages.dry import DRY
from tokenloop.sampling.stages.grammar import GRAMMAR
from tokenloop.sampling.stages.length import MIN_LENGTH
from tokenloop.sampling.stages.mirostat import MIROSTAT
from tokenloop.sampling.stages.ngram import NO_REPEAT_NGRAM
from tokenloop.sampling.stages.penalties import PENALTIES
from tokenloop.sampling.stages.sigma import TOP_N_SIGMA
from tokenloop.sampling.stages.smoothing import SMOOTHING
from tokenloop.sampling.stages.stage import (
    Constraint,
    Context,
    Effect,
    Situation,
    Stage,
    Values,
    Words,
)
from tokenloop.sampling.stages.temperature import DYNAMIC_TEMPERATURE, TEMPERATURE
from tokenloop.sampling.stages.top_a import TOP_A
from tokenloop.sampling.stages.typical import TYPICAL_P
from tokenloop.sampling.stages.xtc import XTC

_ALL = (
    LOGIT_BIAS,
    BAD_WORDS,
    MIN_LENGTH,
    GRAMMAR,
    NO_REPEAT_NGRAM,
    PENALTIES,
    DRY,
    TOP_N_SIGMA,
    TOP_K,
    TYPICAL_P,
    TOP_P,
    MIN_P,
    TOP_A,
    EPSILON_CUTOFF,
    ETA_CUTOFF,
    XTC,
    SMOOTHING,
    DYNAMIC_TEMPERATURE,
    TEMPERATURE,
    MIROSTAT,
)

STAGES: dict[str, Stage] = {stage.name: stage for stage in _ALL}
"""Every stage by name."""

__all__ = ["STAGES", "Constraint", "Context", "Effect", "Situation", "Stage", "Values", "Words"]
