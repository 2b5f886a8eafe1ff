"""The sampler: a pure function from logits, prefix, settings and ``u`` to a traced choice."""

from tokenloop.sampling.candidates import Candidates
from tokenloop.sampling.chain import Outcome, Trace, raw_candidates, run_chain
from tokenloop.sampling.draw import Drawn, invert, uniform
from tokenloop.sampling.settings import (
    DEFAULT_SEED,
    ORDER_NAMES,
    Order,
    SamplerSettings,
    check_seed,
)
from tokenloop.sampling.stages import ORDERS, STAGES, Stage

__all__ = [
    "DEFAULT_SEED",
    "ORDERS",
    "ORDER_NAMES",
    "STAGES",
    "Candidates",
    "Drawn",
    "Order",
    "Outcome",
    "SamplerSettings",
    "Stage",
    "Trace",
    "check_seed",
    "invert",
    "raw_candidates",
    "run_chain",
    "uniform",
]
