"""What a command line says of the sampler, over a preset or the settings file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tokenloop.cli.options import misuse
from tokenloop.errors import SettingError, TokenloopError
from tokenloop.sampling.presets import settings_by_name
from tokenloop.sampling.settings import DEFAULT_SEED, SamplerSettings, check_seed

if TYPE_CHECKING:
    from tokenloop.app.settings_file import FileSettings


@dataclass(frozen=True)
class GivenSampler:
    """What the command line says of the sampler.

    Attributes:
        preset: the base that it names instead of the settings file's, or ``None``.
        changes: settings by name, over the base.
        seed: of the draws, or ``None``.
        grammar_file: where the grammar stands, if it stands in a file.
    """

    preset: str | None
    changes: dict[str, Any]
    seed: int | None
    grammar_file: str | None = None

    def settings(self, file: FileSettings) -> SamplerSettings:
        """What holds: what was given, over the preset or else the settings file.

        Raises:
            click.UsageError: no such preset, or a setting that has no meaning.
        """
        return self.over(file.sampler if self.preset is None else preset_named(self.preset, file))

    def over(self, base: SamplerSettings) -> SamplerSettings:
        """What was given over some settings.

        Raises:
            click.UsageError: a setting that has no meaning.
        """
        changes = self.changes
        if "order" in changes and "stages" not in changes:
            changes = {**changes, "stages": ()}  # an order that is asked for is the one that runs
        try:
            return base.replace(**changes)
        except SettingError as error:
            raise misuse(str(error)) from None

    def seed_over(self, file: FileSettings) -> int:
        """The seed that holds: the command line's, the settings file's, or the default.

        Raises:
            click.UsageError: it is out of range.
        """
        if self.seed is None:
            return DEFAULT_SEED if file.seed is None else file.seed
        try:
            return check_seed(self.seed)
        except SettingError as error:
            raise misuse(str(error)) from None

    @contextmanager
    def naming_its_file(self) -> Iterator[None]:
        """What is wrong with a grammar that came from a file is said of that file.

        Raises:
            TokenloopError: in the place of the setting's error.
        """
        try:
            yield
        except SettingError as error:
            if error.name != "grammar" or self.grammar_file is None:
                raise
            raise TokenloopError(f"{self.grammar_file}: {error.allowed}") from None


def preset_named(name: str, file: FileSettings) -> SamplerSettings:
    """A preset, ready-made or the person's own.

    Raises:
        click.UsageError: there is none of that name.
    """
    known = settings_by_name(file.presets)
    if name not in known:
        raise misuse(f"{name!r} is no preset: there are {', '.join(known)}")
    return known[name]
