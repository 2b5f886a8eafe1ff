"""All that the sampler's window turns, as one value."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tokenloop.sampling import Grammar, SamplerSettings, check_seed
from tokenloop.sampling.settings import GrammarKind


@dataclass(frozen=True)
class Dials:
    """Settings and seed, and the kind of a grammar whose text is not written yet.

    Attributes:
        settings: the sampler's.
        seed: of the draws.
        kind: of the grammar; what its text will be read as, where there is none.
    """

    settings: SamplerSettings
    seed: int
    kind: GrammarKind = "json_schema"

    def of_kind(self, kind: GrammarKind) -> Dials:
        """The grammar's text read as another kind.

        Raises:
            SettingError: there is no such kind.
        """
        grammar = self.settings.grammar
        text = grammar.text if grammar is not None else ""
        settings = self.settings.replace(grammar=Grammar(kind, text) if text else None)
        return replace(self, settings=settings, kind=kind)

    def with_grammar(self, text: str) -> Dials:
        """Another grammar of the same kind; an empty text is none.

        Raises:
            SettingError: it is too long.
        """
        grammar = Grammar(self.kind, text) if text else None
        return replace(self, settings=self.settings.replace(grammar=grammar))

    def with_setting(self, name: str, value: object) -> Dials:
        """One setting changed.

        Raises:
            SettingError: the value is not possible.
        """
        return replace(self, settings=self.settings.replace(**{name: value}))

    def with_seed(self, value: object) -> Dials:
        """Another seed.

        Raises:
            SettingError: it is out of range.
        """
        return replace(self, seed=check_seed(value if isinstance(value, int) else -1))
