"""The sampler's settings, every change applied at once while the panels above show its effect."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Grid, Horizontal, Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Label

from tokenloop.app.sampler_fields import FIELDS, Field
from tokenloop.app.screens.dialog import Drawer, NoteLine
from tokenloop.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import ComposeResult

    from tokenloop.app.conductor import Conductor


class SettingInput(Input):
    """A setting's value; ← and → change it by a step, ↑ and ↓ go to its neighbours."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "nudge(-1)", "less", show=False),
        Binding("right", "nudge(1)", "more", show=False),
        Binding("up", "neighbour(-1)", "previous", show=False),
        Binding("down,enter", "neighbour(1)", "next", show=False),
    ]

    class Nudged(Message):
        """A step up or down is wanted."""

        def __init__(self, field: Field, direction: int) -> None:
            super().__init__()
            self.field = field
            self.direction = direction

    def __init__(self, field: Field, value: str) -> None:
        super().__init__(value, id=f"set-{field.name}", compact=True, select_on_focus=False)
        self.field = field

    def action_nudge(self, direction: int) -> None:
        """Ask for a step; in a field without steps the cursor moves."""
        if self.field.step:
            self.post_message(self.Nudged(self.field, direction))
        elif direction < 0:
            self.action_cursor_left()
        else:
            self.action_cursor_right()

    def action_neighbour(self, direction: int) -> None:
        """Go to the field before or after."""
        if direction < 0:
            self.screen.focus_previous(SettingInput)
        else:
            self.screen.focus_next(SettingInput)


class SamplerScreen(Drawer[None]):
    """Edits every setting in place.

    Args:
        conductor: takes each valid change at once.
        make_room: as for :class:`Drawer`.
    """

    def __init__(self, conductor: Conductor, make_room: Callable[[int], None]) -> None:
        super().__init__(make_room)
        self._conductor = conductor

    def compose(self) -> ComposeResult:
        """A grid of fields, and one line for what is meant or wrong."""
        with Vertical(id="sampler-window", classes="window"):
            with Grid(id="sampler-grid", classes="fits"):
                for field in FIELDS:
                    with Horizontal(classes=f"setting -{field.name.replace('_', '-')}"):
                        yield Label(Content(field.label))
                        yield SettingInput(field, self._shown(field))
            yield NoteLine(Content(""))

    def on_mount(self) -> None:
        """Begin with the temperature."""
        window = self.query_one("#sampler-window")
        window.border_title = Content("sampler settings · every change at once, no pass")
        window.border_subtitle = Content("↑↓ field · ←→ change · type a value · esc back")
        self.query_one("#set-temperature", SettingInput).focus()

    def on_descendant_focus(self) -> None:
        """Say what the focused field means."""
        if isinstance(self.focused, SettingInput):
            self._say(self.focused.field)

    def on_input_changed(self, event: Input.Changed) -> None:
        """Apply what was typed, or say in one line why it can't be."""
        event.stop()
        if isinstance(event.input, SettingInput):
            self._apply(event.input, event.value)

    def on_setting_input_nudged(self, event: SettingInput.Nudged) -> None:
        """Change a value by a step, within its range."""
        event.stop()
        conductor, field = self._conductor, event.field
        value = field.nudged(conductor.settings, conductor.seed, event.direction)
        if value is None:
            return
        try:
            settings, seed = field.apply(value, conductor.settings, conductor.seed)
        except SettingError:
            return  # at the end of the range there is no further step
        conductor.configure(settings)
        conductor.reseed(seed)
        box = self.query_one(f"#set-{field.name}", SettingInput)
        # Applied already: told again by the box, a held key would set it back for a moment.
        with box.prevent(Input.Changed):
            box.value = field.write(value)
        box.cursor_position = len(box.value)
        box.remove_class("-wrong")
        self._say(field)

    def _shown(self, field: Field) -> str:
        return field.write(field.value_of(self._conductor.settings, self._conductor.seed))

    def _apply(self, box: SettingInput, text: str) -> None:
        field, conductor = box.field, self._conductor
        try:
            value = field.read(text)
            settings, seed = field.apply(value, conductor.settings, conductor.seed)
        except SettingError as error:
            box.add_class("-wrong")
            self._say(field, error.allowed)
            return
        box.remove_class("-wrong")
        self._say(field)
        conductor.configure(settings)
        conductor.reseed(seed)

    def _say(self, field: Field, wrong: str | None = None) -> None:
        mark, text = ("✗ ", wrong) if wrong else ("", field.help)
        words = Content.assemble((f"{mark}{field.label}: ", "bold"), text)
        self.note.say(words, "error" if wrong else "information")
