"""The tree of prefixes that a session has visited: each node one token after its parent."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tokenloop.records import How, PrefixToken, StepRecord, Token, WatchPoint

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from tokenloop.sampling import SamplerSettings
    from tokenloop.session.reading import Reading
    from tokenloop.session.situations import Mu

HELD_BYTES = 64 * 2**20
"""What the held logits of visited nodes may take: some 340 distributions of the default model."""


class Node:
    """A visited prefix, as its last token; the nodes on the way to it are the tokens before.

    Attributes:
        token: the last token.
        children: the visited prefixes that go on from here, by token id.
        attempt: how often the position after this prefix was rolled again.
        shown: the token as the text panel shows it.
        record: how it was chosen, for a step.
        reading: the prefill that read it and its row there, for a given token.
        then: the settings and the prompt's length when a step appended it.
        mu: mirostat's μ after it, or ``None`` before the first draw.
        watched: where watched tokens stood before it, by id; ``None`` where that is not known.
    """

    def __init__(self, token: Token) -> None:
        self.token = token
        self.children: dict[int, Node] = {}
        self.attempt = 0
        self.shown = PrefixToken(token=token, how="given", p=None, rank=None)
        self.record: StepRecord | None = None
        self.reading: tuple[Reading, int] | None = None
        self.then: tuple[SamplerSettings, int] | None = None
        self.mu: Mu | None = None
        self.watched: dict[int, WatchPoint | None] = {}

    @property
    def entropy_bits(self) -> float | None:
        """Of the model's distribution before it; ``None`` for the first token."""
        if self.record is not None:
            return self.record.entropy_bits
        if self.reading is not None:
            reading, row = self.reading
            return float(reading.entropy_bits[row])
        return None

    def arrived(self, how: How, p: float | None, rank: int | None) -> None:
        """Note how the token came to stand here the last time."""
        self.shown = PrefixToken(token=self.token, how=how, p=p, rank=rank)
        self.record = None
        self.reading = None
        self.then = None
        self.watched = {}


class Tree:
    """All visited prefixes.

    Attributes:
        roots: the prefixes of one token, by its id.
    """

    def __init__(self) -> None:
        self.roots: dict[int, Node] = {}

    def child(self, parent: Node | None, token: Token) -> Node:
        """The node of ``parent``'s prefix and one more token; made on the first visit."""
        siblings = self.roots if parent is None else parent.children
        node = siblings.get(token.id)
        if node is None:
            node = siblings[token.id] = Node(token)
        return node

    def find(self, ids: Sequence[int]) -> Node | None:
        """The node of a visited prefix, or ``None``."""
        node: Node | None = None
        siblings = self.roots
        for token_id in ids:
            node = siblings.get(token_id)
            if node is None:
                return None
            siblings = node.children
        return node


class HeldLogits:
    """The last logits of visited nodes, the least recently used dropped first."""

    def __init__(self, limit_bytes: int = HELD_BYTES) -> None:
        self._limit = limit_bytes
        self._used = 0
        self._logits: OrderedDict[Node, NDArray[np.float32]] = OrderedDict()

    def hold(self, node: Node, logits: NDArray[np.float32]) -> None:
        """Keep a node's logits (vocab,)."""
        replaced = self._logits.pop(node, None)
        if replaced is not None:
            self._used -= replaced.nbytes
        self._logits[node] = logits
        self._used += logits.nbytes
        while self._used > self._limit and len(self._logits) > 1:
            _, dropped = self._logits.popitem(last=False)
            self._used -= dropped.nbytes

    def peek(self, node: Node) -> NDArray[np.float32] | None:
        """The same as :meth:`get`, but looking is no use that keeps them longer."""
        return self._logits.get(node)

    def get(self, node: Node) -> NDArray[np.float32] | None:
        """A node's logits, or ``None`` where they are no longer held."""
        logits = self._logits.get(node)
        if logits is not None:
            self._logits.move_to_end(node)
        return logits
