"""What a stage is, and what it may look at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from tokenloop.sampling.candidates import Candidates
from tokenloop.sampling.settings import SamplerSettings

Values = dict[str, float | int | str]


class Words(Protocol):
    """What the stages need to know of the vocabulary."""

    def raw(self, token_id: int, /) -> bytes:
        """The bytes that a token stands for."""

    def encode(self, text: str, /) -> list[int]:
        """A fragment of text as ids."""

    def label(self, token_id: int, /) -> str:
        """How a token is printed."""


@dataclass(frozen=True)
class Situation:
    """Where the draw stands: all that a stage may look at besides candidates and settings.

    Attributes:
        prefix: ids before the position to fill, oldest first.
        prompt_length: how many of them the person began with; what follows is new text.
        eos_ids: tokens that end a text.
        chance: a number in [0, 1) that depends on seed, position and attempt, for a stage that acts
            now and then; independent of the draw's ``u``.
        mu: mirostat's μ in bits as the draws so far have left it, or ``None`` before the first.
        words: the vocabulary, or ``None`` where nothing is known of it.
        constraint: the compiled grammar at this prefix, or ``None`` where there is no grammar.
    """

    prefix: Sequence[int] = ()
    prompt_length: int = 0
    eos_ids: tuple[int, ...] = ()
    chance: float = 0.0
    mu: float | None = None
    words: Words | None = None
    constraint: Constraint | None = None

    @property
    def new_ids(self) -> Sequence[int]:
        """The tokens after the prompt."""
        return self.prefix[self.prompt_length :]


class Constraint(Protocol):
    """What a grammar allows at one prefix."""

    @property
    def allowed(self) -> NDArray[np.bool_] | None:
        """(vocab,) which tokens may come; ``None`` where the grammar no longer constrains."""

    @property
    def state(self) -> str:
        """Where the text stands in the grammar, in one line."""


@dataclass(frozen=True)
class Context:
    """What a stage works by.

    Attributes:
        settings: the sampler's.
        situation: where the draw stands.
        vocab_size: entries that the model scores; ids lie below it.
    """

    settings: SamplerSettings
    situation: Situation
    vocab_size: int


@dataclass(frozen=True)
class Effect:
    """What a stage did, where there is more to say than what it left.

    Attributes:
        after: what it left.
        skipped: why it changed nothing, where only looking could tell.
        note: what it found, in one line ("repeats ␣violets␣are: 5 tokens").
        figures: the same as values, for its record.
    """

    after: Candidates
    skipped: str | None = None
    note: str | None = None
    figures: Values = field(default_factory=dict)


ONE_LEFT = "one candidate is left"
"""Why no stage can change anything more, whatever its settings."""


def nothing(context: Context) -> None:
    """Nothing more to say."""


@dataclass(frozen=True)
class Stage:
    """One named step of the chain.

    Attributes:
        name: as in settings, records and on the screen.
        values: the settings it follows, for its record.
        why_off: the reason that its settings turn it off, or ``None``.
        apply: the step itself: what it leaves, or an :class:`Effect`. Pure: it never writes to
            what it got, and returns the same object where it changed nothing.
        no_effect: what to say when it was on and changed nothing, for one that does so with more
            than one candidate left and gives no reason itself.
        note: what else is worth saying of its settings, or ``None``.
        definition: which definition is active where the traditions differ, or ``None``.
    """

    name: str
    values: Callable[[Context], Values]
    why_off: Callable[[Context], str | None]
    apply: Callable[[Candidates, Context], Candidates | Effect]
    no_effect: str = ONE_LEFT
    note: Callable[[Context], str | None] = nothing
    definition: Callable[[Context], str | None] = nothing
