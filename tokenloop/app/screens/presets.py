"""Presets of the sampler: each one shows what it does as soon as it is highlighted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import set_cell_size
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from tokenloop.app.screens.dialog import Drawer, NoteLine, keys_line
from tokenloop.app.words import one_line
from tokenloop.sampling import PRESETS, Grammar, SamplerSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from textual.app import ComposeResult

    from tokenloop.app.conductor import Conductor

NAME_CELLS = 24
BELONG_TO_THE_TEXT = ("logit_bias", "bad_words", "grammar")
"""Settings about single tokens: a preset leaves them as they are, unless it has its own."""


class PresetsScreen(Drawer[bool]):
    """Applies the highlighted preset at once; enter keeps it, esc brings the settings back.

    Its result is whether one was kept.

    Args:
        conductor: takes each change at once.
        own: the person's own presets, by name.
        make_room: as for :class:`Drawer`.
    """

    def __init__(
        self,
        conductor: Conductor,
        own: Mapping[str, SamplerSettings],
        make_room: Callable[[int], None],
    ) -> None:
        super().__init__(make_room)
        self._conductor = conductor
        self._before = conductor.settings
        self._lines = [("as it was", "the settings before this window"), *_lines(own)]
        ready = [preset.settings for name, preset in PRESETS.items() if name not in own]
        wanted = [*ready, *own.values()]
        self._settings = [self._before, *(_with_text(each, self._before) for each in wanted)]

    def compose(self) -> ComposeResult:
        """The list and the keys."""
        with Vertical(id="presets-window", classes="window"):
            yield OptionList(*map(_option, self._lines), id="presets-list", classes="fits")
            yield NoteLine(keys_line("↑↓", "try", "enter", "keep", "esc", "as it was"))

    def on_mount(self) -> None:
        """Begin with the settings as they are."""
        self.query_one("#presets-window").border_title = Content(
            "presets · each tried at once, no pass"
        )
        options = self.query_one(OptionList)
        options.highlighted = 0
        options.focus()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Try it."""
        event.stop()
        self.note.rest()
        self._conductor.configure(self._settings[event.option_index], on_trial=True)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Keep it."""
        event.stop()
        self._conductor.configure(self._settings[event.option_index])
        self.dismiss(True)

    def action_leave(self) -> None:
        """The settings as they were."""
        self._conductor.configure(self._before)
        self.dismiss(False)


def _lines(own: Mapping[str, SamplerSettings]) -> list[tuple[str, str]]:
    """Name and meaning of each preset: the ready-made ones, then the person's own."""
    ready = [(preset.label, preset.help) for name, preset in PRESETS.items() if name not in own]
    return [*ready, *((name, _told(settings)) for name, settings in own.items())]


def _told(settings: SamplerSettings) -> str:
    """What a person's own preset changes, from the defaults."""
    plain = SamplerSettings()
    changed = [
        f"{name} {_value(getattr(settings, name))}"
        for name in SamplerSettings.__struct_fields__
        if getattr(settings, name) != getattr(plain, name)
    ]
    return ", ".join(changed) or "the defaults"


def _value(value: object) -> str:
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, tuple):
        between = "; " if value and isinstance(value[0], tuple) else " "
        return between.join(map(_value, value))
    if isinstance(value, dict):
        return " ".join(f"{key}={bias:+g}" for key, bias in value.items())
    if isinstance(value, Grammar):
        return f"{value.kind} {value.text}"
    return str(value)


def _with_text(settings: SamplerSettings, before: SamplerSettings) -> SamplerSettings:
    kept = {
        name: getattr(before, name) for name in BELONG_TO_THE_TEXT if not getattr(settings, name)
    }
    return settings.replace(**kept)


def _option(line: tuple[str, str]) -> Option:
    name, meaning = map(one_line, line)
    column = set_cell_size(name, NAME_CELLS)
    return Option(Content.assemble((column, "bold"), (meaning, "$text-muted")))
