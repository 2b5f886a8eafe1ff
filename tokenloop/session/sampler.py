"""The sampler where the session stands: its dials, on any distribution of the prefix."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tokenloop.sampling import (
    Candidates,
    SamplerSettings,
    Situation,
    Trace,
    raw_candidates,
    run_chain,
)
from tokenloop.session.now import Dials, Now, consider
from tokenloop.session.recorder import Luck
from tokenloop.session.situations import Mu, Situations
from tokenloop.session.tree import Node
from tokenloop.session.vocabulary import Vocabulary


class Sampler:
    """Makes of logits what is held now.

    Args:
        vocabulary: what the tokens stand for.
        eos_ids: tokens that end a text.
        dials: as they are turned at first.

    Raises:
        SettingError: the settings' grammar can't be honoured; at every turn, too.
    """

    def __init__(self, vocabulary: Vocabulary, eos_ids: tuple[int, ...], dials: Dials) -> None:
        self._vocabulary = vocabulary
        self._situations = Situations(vocabulary, eos_ids)
        self.dials = dials

    @property
    def dials(self) -> Dials:
        """As they are turned."""
        return self._dials

    @dials.setter
    def dials(self, dials: Dials) -> None:
        self._situations.check(dials.settings)
        self._dials = dials

    def check(self, settings: SamplerSettings) -> None:
        """Refuse settings that can't be honoured with this vocabulary.

        Raises:
            SettingError: as :meth:`tokenloop.session.situations.Situations.check`.
        """
        self._situations.check(settings)

    def candidates(self, logits: NDArray[np.float32]) -> Candidates:
        """The candidates of logits (rows,).

        Raises:
            DistributionError: as :func:`tokenloop.sampling.raw_candidates`.
        """
        # Ids beyond the tokenizer's are padding of the weights: no text, so no candidates.
        return raw_candidates(logits[: self._vocabulary.tokenizer.size])

    def look(
        self,
        logits: NDArray[np.float32],
        ids: Sequence[int],
        *,
        prompt_length: int,
        mu: Mu | None,
        attempt: int,
    ) -> Now:
        """What is held after a prefix.

        Args:
            logits: (rows,) after it.
            ids: the prefix.
            prompt_length: of it.
            mu: mirostat's, after it.
            attempt: how often the next position was rolled again.

        Raises:
            DistributionError, SettingError: as :func:`tokenloop.session.now.consider`.
        """
        situation = self._situations.after(ids, prompt_length, mu, self.dials.settings)
        raw = self.candidates(logits)
        return consider(raw, situation, attempt, self.dials, self._vocabulary)

    def again(self, now: Now, mu: Mu | None, attempt: int, dials: Dials) -> Now:
        """The same distribution, with other dials or another attempt.

        Raises:
            DistributionError, SettingError: as for :meth:`look`.
        """
        situation = self.situation(now, mu, dials.settings)
        return consider(now.raw, situation, attempt, dials, self._vocabulary)

    def situation(self, now: Now, mu: Mu | None, settings: SamplerSettings) -> Situation:
        """Where the pending draw would stand under other settings."""
        here = now.situation
        situation = self._situations.after(here.prefix, here.prompt_length, mu, settings)
        return replace(situation, chance=here.chance)

    def trace_of(self, raw: Candidates, branch: Sequence[Node]) -> Trace:
        """The chain on the distribution that a step's token was chosen from, as it was then.

        Args:
            raw: that distribution.
            branch: the nodes up to and with that token's.

        Raises:
            ValueError: the token was given; no sampler looked.
        """
        *before, node = branch
        if node.record is None or node.then is None:
            raise ValueError("the token was given: no sampler looked at it")
        settings, prompt_length = node.then
        ids = [earlier.token.id for earlier in before]
        situation = self._situations.after(ids, prompt_length, before[-1].mu, settings)
        draw = node.record.draw
        luck = Luck(draw.seed, len(ids), draw.attempt)
        return run_chain(raw, replace(situation, chance=luck.chance), settings)
