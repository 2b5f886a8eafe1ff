"""The sampler: a pure function from logits, prefix, settings and ``u`` to a traced choice."""

from tokenloop.sampling.candidates import Candidates
from tokenloop.sampling.chain import Outcome, Trace, raw_candidates, run_chain
from tokenloop.sampling.draw import Drawn, invert, uniform
from tokenloop.sampling.orders import ORDER_NAMES, ORDERS, Order
from tokenloop.sampling.parameters import PARAMETERS, Parameter
from tokenloop.sampling.settings import DEFAULT_SEED, Grammar, SamplerSettings, check_seed
from tokenloop.sampling.stages import STAGES, Constraint, Situation, Stage, Words

__all__ = [
    "DEFAULT_SEED",
    "ORDERS",
    "ORDER_NAMES",
    "PARAMETERS",
    "STAGES",
    "Candidates",
    "Constraint",
    "Drawn",
    "Grammar",
    "Order",
    "Outcome",
    "Parameter",
    "SamplerSettings",
    "Situation",
    "Stage",
    "Trace",
    "Words",
    "check_seed",
    "invert",
    "raw_candidates",
    "run_chain",
    "uniform",
]
