"""The grammar: only what it allows may come."""

from __future__ import annotations

import numpy as np

from tokenloop.counting import counted
from tokenloop.errors import DistributionError
from tokenloop.sampling.candidates import Candidates, Mask
from tokenloop.sampling.grammar import KINDS
from tokenloop.sampling.stages.naming import label_of
from tokenloop.sampling.stages.stage import Constraint, Context, Effect, Stage, Values


def grammar(left: Candidates, context: Context) -> Effect:
    """Cut every token after which the new text could not go on as the grammar wants.

    Willard & Louf 2023, "Efficient guided generation for large language models"; the masks are
    llguidance's. What is left keeps its logits: the model's own odds among what is allowed.

    Raises:
        DistributionError: a dead end: nothing that the grammar allows is left.
    """
    constraint = context.situation.constraint
    if constraint is None:
        return Effect(left, skipped="off: the grammar was not compiled for this vocabulary")
    allowed = constraint.allowed
    if allowed is None:
        return Effect(left, skipped=constraint.state)
    keep = _kept(left, allowed)
    many = int(np.count_nonzero(allowed))
    if not keep.any():
        raise DistributionError(_dead_end(many, constraint, context))
    figures: Values = {"allowed": many, "state": constraint.state}
    if keep.all():
        return Effect(left, note=constraint.state, figures=figures)
    best = int(np.where(keep, -np.inf, left.logits).argmax())
    token_id, p = int(left.ids[best]), float(left.probabilities[best])
    lost = "best cut" if keep[left.best(1)[0]] else "would have said"
    early = ", but the text can't end yet" if token_id in context.situation.eos_ids else ""
    label = label_of(context, token_id)
    return Effect(
        left.keep(keep),
        note=f"{constraint.state} · allows {many:,} · {lost} {label} {p * 100:.1f} %{early}",
        figures={**figures, "best_cut": label, "best_cut_p": p},
    )


def _kept(left: Candidates, allowed: Mask) -> Mask:
    """(n,) whether each candidate is allowed; ids beyond the mask are not."""
    keep = np.zeros(len(left), dtype=np.bool_)
    known = left.ids < len(allowed)
    keep[known] = allowed[left.ids[known]]
    return keep


def _dead_end(many: int, constraint: Constraint, context: Context) -> str:
    where = f"after {counted(len(context.situation.new_ids), 'new token')}"
    if not many:
        return f"grammar: dead end {where}: no token can go on from here ({constraint.state})"
    return (
        f"grammar: dead end {where}: of the {counted(many, 'token')} that it allows "
        f"({constraint.state}) the other stages leave none"
    )


def _kind(context: Context) -> str:
    chosen = context.settings.grammar
    return KINDS[chosen.kind] if chosen is not None else "none"


GRAMMAR = Stage(
    "grammar",
    lambda context: {"kind": _kind(context)},
    lambda context: None if context.settings.grammar is not None else "off: no grammar",
    grammar,
    "allows every candidate that is left",
)
