"""The distribution as a function of one setting."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType

from tokenloop.app.screens.laboratory.inquiry import Inquiry
from tokenloop.app.screens.laboratory.view_screen import ViewScreen
from tokenloop.errors import SettingError
from tokenloop.records import SweepRecord
from tokenloop.sampling.parameters import PARAMETERS
from tokenloop_widgets import Key, SweepPanel, TabsLine

if TYPE_CHECKING:
    from textual.widget import Widget

    from tokenloop.app.conductor import Conductor
    from tokenloop.records import Choice
    from tokenloop.sampling.settings import SamplerSettings

ALWAYS = ("temperature", "top_p", "min_p")
"""Settings that can be swept whether their stage acts or not, if only it runs."""

NOTHING = "no stage that has a number runs: s opens the stages"


class SweepScreen(ViewScreen):
    """A plot over a setting's values; enter sets the value under the cursor.

    Args:
        conductor: as for :class:`ViewScreen`.
        keymap: as for :class:`ViewScreen`.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("f", "leave", "back", show=False, id="sweep"),
        Binding("up,k,shift+tab", "choose(-1)", "setting before", show=False, priority=True),
        Binding("down,j,tab", "choose(1)", "next setting", show=False, priority=True),
    ]

    def __init__(self, conductor: Conductor, keymap: dict[str, str]) -> None:
        super().__init__(conductor, keymap)
        self.panel: SweepPanel = SweepPanel(id="sweep")
        self._tabs = TabsLine(id="sweep-settings")
        self._setting = ALWAYS[0]
        self._inquiry = Inquiry(conductor, "sweep", SweepRecord)

    def above(self) -> list[Widget]:
        """The settings that can be swept."""
        return [self._tabs]

    def keys(self) -> list[Key]:
        """Which setting, which value, then the dials."""
        return [
            Key("←→", "value"),
            Key("enter", "set it", "set"),
            Key("↑↓", "other setting", "choose(1)"),
            *self.dial_keys(),
        ]

    def waits(self) -> bool:
        """Until the plot is of the setting as it is now: its cursor walks from there."""
        answer = self._inquiry.answer
        if answer is None:
            return self._inquiry.waiting
        now: float = getattr(self.conductor.settings, self._setting)
        return answer.current != now

    def follow(self) -> None:
        """Ask for the setting's sweep over what is held, and draw the answer."""
        view = self.conductor.view()
        choice = view.snapshot.choice if view.snapshot else None
        if view.snapshot is None or choice is None:
            self._show_nothing(view.placeholder)
            return
        settings = settings_to_sweep(choice, view.snapshot.settings)
        if not settings:
            self._show_nothing(NOTHING)
            return
        if not _runs(self._setting, view.snapshot.settings):
            self._setting = settings[0]
        setting = self._setting
        if setting not in settings:
            settings = (*settings, setting)  # its stage stopped acting while it is looked at
        names = [PARAMETERS[name].label for name in settings]
        self._tabs.show(names, settings.index(setting))
        self._inquiry.want(setting, choice, lambda engine: engine.sweep(setting))
        self.panel.show(self._inquiry.answer, placeholder=self._inquiry.placeholder)

    def _show_nothing(self, why: str) -> None:
        self._inquiry.drop()
        self._tabs.show((), 0)
        self.panel.show(None, placeholder=why)

    def action_choose(self, by: int) -> None:
        """Look at another setting."""
        snapshot = self.conductor.snapshot
        if snapshot is None or snapshot.choice is None:
            return
        settings = settings_to_sweep(snapshot.choice, snapshot.settings)
        if not settings:
            return
        here = settings.index(self._setting) if self._setting in settings else 0
        self._setting = settings[(here + by) % len(settings)]
        self.follow()

    def action_set(self) -> None:
        """Set the value under the cursor."""
        self.panel.action_press()

    def on_sweep_panel_pressed(self, event: SweepPanel.Pressed) -> None:
        """Set the setting; the plot's mark follows."""
        event.stop()
        self.hush()
        conductor, parameter = self.conductor, PARAMETERS[event.setting]
        value = round(event.value) if parameter.whole else event.value
        try:
            conductor.configure(conductor.settings.replace(**{event.setting: value}))
        except SettingError as error:
            self.tell(str(error), "error")


def settings_to_sweep(choice: Choice, settings: SamplerSettings) -> tuple[str, ...]:
    """Temperature, top-p and min-p where their stages run, then every number of one that acts."""
    always = [name for name in ALWAYS if _runs(name, settings)]
    acting = {stage.name for stage in choice.stages if stage.skipped is None}
    others = [
        name
        for name, parameter in PARAMETERS.items()
        if parameter.stage in acting and name not in ALWAYS
    ]
    return (*always, *others)


def _runs(name: str, settings: SamplerSettings) -> bool:
    return settings.runs(PARAMETERS[name].stage)
