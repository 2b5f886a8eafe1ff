"""The prefix as a path through the tree of visited ones: its cache, held logits and costs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tokenloop.sampling import Candidates
from tokenloop.session.history import History
from tokenloop.session.now import Now
from tokenloop.session.passes import CachedPasses, Pass, common_prefix
from tokenloop.session.reading import read_tokens
from tokenloop.session.runtime import IsCancelled, OnProgress, Runtime
from tokenloop.session.tree import HeldLogits, Node, Tree
from tokenloop.session.vocabulary import Vocabulary

Branch = tuple[Node, ...]
"""The nodes of a prefix, one a token."""


class Path:
    """Where the session stands in the tree.

    Args:
        runtime: the decoder.
        vocabulary: makes the tokens' records.

    Attributes:
        branch: the nodes of the prefix.
        cache: the cache's record after the last change.
        history: what the passes cost.
    """

    def __init__(self, runtime: Runtime, vocabulary: Vocabulary) -> None:
        self._passes = CachedPasses(runtime)
        self._vocabulary = vocabulary
        self.cache = self._passes.record(0, 0)
        self.forget()

    def forget(self) -> None:
        """Begin a new tree; the cache stays, for what it may have in common with the next text."""
        self.branch: Branch = ()
        self.history = History()
        self._tree, self._held = Tree(), HeldLogits()

    @property
    def ids(self) -> list[int]:
        """The prefix: the truth of the session."""
        return ids_of(self.branch)

    @property
    def steps(self) -> int:
        """Tokens that a step appended."""
        return sum(node.shown.how != "given" for node in self.branch)

    @property
    def cached_ids(self) -> tuple[int, ...]:
        """The prefix that the KV cache holds."""
        return self._passes.ids

    def run(
        self,
        ids: Sequence[int],
        *,
        keep: int | None = None,
        top: int = 0,
        progress: OnProgress | None = None,
        cancelled: IsCancelled | None = None,
    ) -> Pass:
        """Run a pass: :meth:`tokenloop.session.passes.CachedPasses.run`."""
        return self._passes.run(ids, keep=keep, top=top, progress=progress, cancelled=cancelled)

    def attempt(self, ids: Sequence[int]) -> int:
        """How often the position after a prefix was rolled again when it was last visited."""
        visited = self._tree.find(ids)
        return visited.attempt if visited is not None else 0

    def logits_after(self, length: int) -> NDArray[np.float32] | None:
        """The logits (rows,) after the first ``length`` tokens, where they are held."""
        return self._held.get(self.branch[length - 1]) if length else None

    def peek(self, length: int) -> NDArray[np.float32] | None:
        """The same; but looking is no use that keeps them longer."""
        return self._held.peek(self.branch[length - 1])

    def go_back(self, branch: Branch) -> None:
        """Stand where the session stood before a command that failed.

        The cache keeps the part of the prefix that a failed pass did not overwrite, and says so.
        """
        self.branch = branch
        kept = common_prefix(self._passes.ids, self.ids)
        self._passes.truncate(kept)
        if kept != self.cache.positions:
            self.cache = self._passes.record(kept, 0)

    def stand(
        self,
        branch: Branch,
        logits: NDArray[np.float32],
        run: Pass | None,
        sample_ms: float,
        *,
        step: bool = False,
    ) -> None:
        """Make a branch the prefix.

        Args:
            branch: its nodes.
            logits: (rows,) after it, to hold.
            run: the pass that led there, if one ran.
            sample_ms: what the sampler took.
            step: whether the pass was a step's.
        """
        self.branch = branch
        self._held.hold(branch[-1], logits)
        if run is None:
            self._passes.truncate(len(branch))
            self.cache = self._passes.record(len(branch), 0)
            self.history.redrawn(sample_ms)
            return
        self.cache = self._passes.record(run.kept, run.computed)
        self.history.add(run.latency(sample_ms), step=step)

    def child(self, token_id: int) -> Node:
        """The node of the prefix and one more token."""
        return self._tree.child(self.branch[-1], self._vocabulary.token(token_id))

    def give(
        self, ids: Sequence[int], *, common: int, run: Pass, now: Now, before: Candidates | None
    ) -> None:
        """Make a prefill's tokens the prefix, each with what the model expected before it.

        Args:
            ids: the new prefix.
            common: how many of its tokens stand there already.
            run: the prefill.
            now: what is held after it.
            before: the distribution after those tokens, where the prefill did not compute it.
        """
        branch = list(self.branch[:common])
        for token_id in ids[common:]:
            parent = branch[-1] if branch else None
            branch.append(self._tree.child(parent, self._vocabulary.token(token_id)))
        self.stand(tuple(branch), run.output.logits, run, now.sample_ms)
        first = max(1, common)
        reading = read_tokens(
            run,
            ids,
            first=first,
            held=before,
            vocab_size=now.choice.vocab_size,
            seed=now.luck.seed,
            order=now.choice.order,
            cache=self.cache,
            latency=run.latency(now.sample_ms),
        )
        mu = branch[common - 1].mu if common else None
        for position, node in enumerate(branch[common:], common):
            node.mu = mu
            if position == 0:
                node.arrived("given", None, None)
                continue
            row = position - first
            node.arrived("given", reading.probability(row), int(reading.rank[row]))
            node.reading = (reading, row)


def ids_of(branch: Sequence[Node]) -> list[int]:
    """The tokens of a branch."""
    return [node.token.id for node in branch]
