"""What can still be computed of earlier positions: from held logits, never by a pass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tokenloop.sampling import Candidates, Trace, run_chain
from tokenloop.session.recorder import Luck
from tokenloop.session.situations import Situations
from tokenloop.session.tree import HeldLogits, Node


@dataclass(frozen=True)
class BranchPast:
    """The distributions before the tokens of a branch.

    Attributes:
        branch: the nodes of the prefix.
        held: the logits after visited nodes.
        situations: makes the situation of a draw.
        prompt_length: of the prefix.
        candidates: from logits.
    """

    branch: Sequence[Node]
    held: HeldLogits
    situations: Situations
    prompt_length: int
    candidates: Callable[[NDArray[np.float32]], Candidates]

    def raw(self, position: int) -> Candidates | None:
        """What the model said before the token there, where the logits are held."""
        logits = self.held.peek(self.branch[position - 1])
        return None if logits is None else self.candidates(logits)

    def trace(self, position: int) -> Trace | None:
        """What the sampler made of it, by the settings of that time; only of a step's token."""
        raw, node = self.raw(position), self.branch[position]
        if raw is None or node.record is None or node.settings is None:
            return None
        draw = node.record.draw
        ids = [before.token.id for before in self.branch[:position]]
        mu = self.branch[position - 1].mu
        situation = self.situations.after(ids, self.prompt_length, mu, node.settings)
        luck = Luck(draw.seed, position, draw.attempt)
        return run_chain(raw, replace(situation, chance=luck.chance), node.settings)
