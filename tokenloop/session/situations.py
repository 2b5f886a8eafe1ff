"""Where a draw stands: what the session knows beside the distribution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tokenloop.records import Choice
from tokenloop.sampling import SamplerSettings, Situation
from tokenloop.sampling.stages.mirostat import mu_after, steers
from tokenloop.session.grammars import Grammars
from tokenloop.session.passes import common_prefix
from tokenloop.session.vocabulary import Vocabulary

Situate = Callable[[SamplerSettings], Situation]
"""Gives the situation of the pending draw under other settings."""


@dataclass(frozen=True)
class Mu:
    """Mirostat's μ as the draws on a branch have left it.

    Attributes:
        tau: what it was steered towards; with another τ it begins anew.
        bits: μ.
    """

    tau: float
    bits: float


class Situations:
    """Makes the situation after a prefix.

    Args:
        vocabulary: what the tokens stand for.
        eos_ids: tokens that end a text.
    """

    def __init__(self, vocabulary: Vocabulary, eos_ids: tuple[int, ...]) -> None:
        self._vocabulary = vocabulary
        self._eos_ids = eos_ids
        self._grammars = Grammars(vocabulary, eos_ids)

    def check(self, settings: SamplerSettings) -> None:
        """Refuse settings that can't be honoured with this vocabulary.

        Raises:
            SettingError: the grammar is faulty, or the extra that reads it is missing.
        """
        self._grammars.constraint(settings, ())

    def after(
        self, ids: Sequence[int], prompt_length: int, mu: Mu | None, settings: SamplerSettings
    ) -> Situation:
        """Where the draw after ``ids`` stands.

        Args:
            ids: the prefix.
            prompt_length: how many of them the person began with.
            mu: mirostat's, as the draws have left it.
            settings: the sampler's.

        Raises:
            SettingError: as for :meth:`check`.
            DistributionError: to tell what the grammar allows costs more than it may.
        """
        same = mu is not None and mu.tau == settings.mirostat_tau
        return Situation(
            prefix=ids,
            prompt_length=prompt_length,
            eos_ids=self._eos_ids,
            mu=mu.bits if mu is not None and same else None,
            words=self._vocabulary,
            constraint=self._grammars.constraint(settings, ids[prompt_length:]),
        )


def next_mu(mu: Mu | None, choice: Choice, settings: SamplerSettings) -> Mu | None:
    """Mirostat's μ once a choice was made; only what was drawn moves it.

    Args:
        mu: before.
        choice: the draw, or what the person forced.
        settings: those of the draw.
    """
    p = choice.chosen.final_p
    if not steers(settings) or choice.draw.how != "drawn" or p is None:
        return mu
    before = mu.bits if mu is not None and mu.tau == settings.mirostat_tau else None
    return Mu(settings.mirostat_tau, mu_after(before, p, settings))


def prompt_length_after(old: Sequence[int], new: Sequence[int], prompt_length: int) -> int:
    """How long the prompt is once ``old`` became ``new``.

    New text that both end with stays new text, whatever happened to the prompt before it.

    Args:
        old: the prefix as it was.
        new: the prefix as it is to be.
        prompt_length: of the old one.
    """
    common = common_prefix(old, new)
    if common >= prompt_length:
        return min(prompt_length, len(new))
    written = list(reversed(old[prompt_length:]))
    return len(new) - common_prefix(written, list(reversed(new))[: len(new) - common])
