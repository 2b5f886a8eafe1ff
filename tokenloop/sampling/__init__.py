"""The sampler: a pure function from logits, prefix, settings and ``u`` to a traced choice.

What only describes it (settings, their table, orders, presets) is imported without numpy, so that
the command line's help can name every setting; the rest comes when it is asked for.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from tokenloop.sampling.orders import ORDER_NAMES, ORDERS, Order
from tokenloop.sampling.parameters import PARAMETERS, Parameter
from tokenloop.sampling.presets import PRESETS, Preset
from tokenloop.sampling.settings import DEFAULT_SEED, Grammar, SamplerSettings, check_seed

if TYPE_CHECKING:
    from tokenloop.sampling.candidates import Candidates
    from tokenloop.sampling.chain import Outcome, Trace, raw_candidates, run_chain
    from tokenloop.sampling.draw import Drawn, invert, invert_each, uniform
    from tokenloop.sampling.philox import uniforms
    from tokenloop.sampling.stages import STAGES, Constraint, Situation, Stage, Words
else:
    _LATER = {
        "candidates": ("Candidates",),
        "chain": ("Outcome", "Trace", "raw_candidates", "run_chain"),
        "draw": ("Drawn", "invert", "invert_each", "uniform"),
        "philox": ("uniforms",),
        "stages": ("STAGES", "Constraint", "Situation", "Stage", "Words"),
    }

    def __getattr__(name):
        for module, names in _LATER.items():
            if name in names:
                return getattr(import_module(f"{__name__}.{module}"), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "DEFAULT_SEED",
    "ORDERS",
    "ORDER_NAMES",
    "PARAMETERS",
    "PRESETS",
    "STAGES",
    "Candidates",
    "Constraint",
    "Drawn",
    "Grammar",
    "Order",
    "Outcome",
    "Parameter",
    "Preset",
    "SamplerSettings",
    "Situation",
    "Stage",
    "Trace",
    "Words",
    "check_seed",
    "invert",
    "invert_each",
    "raw_candidates",
    "run_chain",
    "uniform",
    "uniforms",
]
