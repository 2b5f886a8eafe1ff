"""Top-a: a cut that is the harder, the surer the model is."""

from __future__ import annotations

from tokenloop.sampling.candidates import Candidates
from tokenloop.sampling.stages.cutting import cut, leaves_the_best, replaced, with_min_keep
from tokenloop.sampling.stages.stage import Context, Effect, Stage


def top_a(left: Candidates, context: Context) -> Effect:
    """Keep what has at least a · p², p the best one's probability.

    From BlinkDL's RWKV-LM; defined alike in koboldcpp (``sample_top_a``) and text-generation-webui
    (``TopALogitsWarper``).
    """
    best = float(left.probabilities.max())
    least = context.settings.top_a * best * best
    return Effect(cut(left, left.probabilities >= least, context), figures={"least_p": least})


def _off(context: Context) -> str | None:
    return "off: a = 0" if context.settings.top_a == 0 else replaced(context)


TOP_A = Stage(
    "top_a",
    lambda context: with_min_keep({"a": context.settings.top_a}, context),
    _off,
    top_a,
    "all reach a · p² of the best",
    leaves_the_best,
)
