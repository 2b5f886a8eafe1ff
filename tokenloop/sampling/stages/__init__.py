"""The stages: each one a pure function from candidates to candidates.

A stage gets what is left, the settings and the situation, and returns what it leaves: the same
object where it does nothing. ``why_off`` says beforehand that its settings turn it off.
"""

from __future__ import annotations

from tokenloop.sampling.stages.bias import LOGIT_BIAS
from tokenloop.sampling.stages.cuts import MIN_P, TOP_K, TOP_P
from tokenloop.sampling.stages.mirostat import MIROSTAT
from tokenloop.sampling.stages.penalties import PENALTIES
from tokenloop.sampling.stages.stage import (
    Constraint,
    Context,
    Effect,
    Situation,
    Stage,
    Values,
    Words,
)
from tokenloop.sampling.stages.temperature import TEMPERATURE

STAGES: dict[str, Stage] = {
    stage.name: stage
    for stage in (LOGIT_BIAS, PENALTIES, TOP_K, TOP_P, MIN_P, TEMPERATURE, MIROSTAT)
}
"""Every stage by name."""

__all__ = ["STAGES", "Constraint", "Context", "Effect", "Situation", "Stage", "Values", "Words"]
