"""The sampler's stages as a list: order, on or off, every setting; each change at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input

from tokenloop.app.sampler.dials import Dials
from tokenloop.app.sampler.listing import remark, stage_rows, titles_of
from tokenloop.app.sampler.rows import Row, moved, rows_of, switched, with_defaults
from tokenloop.app.screens.dialog import NoteLine
from tokenloop.errors import SettingError
from tokenloop.sampling import DEFAULT_SEED
from tokenloop.sampling.settings import MOST_GRAMMAR
from tokenloop_widgets import Cursor, StageList

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events
    from textual.app import ComposeResult

    from tokenloop.app.conductor import Conductor
    from tokenloop.app.sampler.fields import Field
    from tokenloop.records import Choice
    from tokenloop.sampling import Grammar, SamplerSettings
    from tokenloop.sampling.settings import GrammarKind

BEGINS_A_NUMBER = frozenset("0123456789.-")
KEYS = (
    "↑↓ stage",
    "←→ value",
    "tab next",
    "space on/off",
    "shift+↑↓ move",
    "enter type",
    "del default",
    "o order",
    "P presets",
    "esc back",
)
WANTED = (3, 4, 5, 9, 1, 8, 0, 2, 6, 7)
"""Which of the keys stay where not all fit, the most wanted first."""

KIND_WAY_OUT = "del takes the text away, then any kind will do"
"""Said where a grammar's text can't be read as another kind: it has to go first."""


class SettingInput(Input):
    """A value as it is typed; what leaves it goes back to the list."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "leave('up')", "the stage above", show=False),
        Binding("down", "leave('down')", "the stage below", show=False),
        Binding("tab", "leave('tab')", "the next setting", show=False),
        Binding("escape", "leave('escape')", "as it was", show=False),
    ]

    class Left(Message):
        """Typing ends with a key that goes elsewhere."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def action_leave(self, key: str) -> None:
        """Say which key it was."""
        self.post_message(self.Left(key))


class SamplerEditor(Vertical):
    """Edits every stage in place.

    It stands among the panels: of a screen above them, each change would draw all of them twice.

    Args:
        conductor: takes each valid change at once.
        leave: takes the editor away; told whether the presets are wanted next.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "walk(-1)", "the stage above", show=False),
        Binding("down,j", "walk(1)", "the stage below", show=False),
        Binding("pageup", "walk(-8)", "a page up", show=False),
        Binding("pagedown", "walk(8)", "a page down", show=False),
        Binding("home", "walk(-99)", "the first stage", show=False),
        Binding("end", "walk(99)", "the last row", show=False),
        Binding("tab", "next_setting(1)", "the next setting", show=False),
        Binding("shift+tab", "next_setting(-1)", "the one before", show=False),
        Binding("left,h", "nudge(-1)", "less", show=False),
        Binding("right,l", "nudge(1)", "more", show=False),
        Binding("space", "switch", "on or off", show=False),
        Binding("shift+up,K", "move(-1)", "earlier in the chain", show=False),
        Binding("shift+down,J", "move(1)", "later in the chain", show=False),
        Binding("delete,backspace", "defaults", "the row's defaults", show=False),
        Binding("o", "own_order", "the tradition's order", show=False),
        Binding("P", "presets", "presets", show=False),
        Binding("enter", "type", "type a value", show=False),
        Binding("s,escape", "leave", "back", show=False),
    ]

    def __init__(self, conductor: Conductor, leave: Callable[[bool], object]) -> None:
        super().__init__(id="sampler-window", classes="window")
        self._conductor = conductor
        self._leave = leave
        self._selected = "temperature"
        self._cell = 0
        self._wrong = False
        self._kind: GrammarKind = "json_schema"
        self._typing: Dials | None = None
        self._draft = ""
        self._before_draft: Grammar | None = None
        self._told = False
        self._title = ""
        self._meant: Content | None = None

    # the window

    def compose(self) -> ComposeResult:
        """The list, the field that a value is typed in, and one line for what is meant or wrong."""
        yield StageList(id="stages")
        yield SettingInput(
            id="setting", compact=True, max_length=MOST_GRAMMAR, select_on_focus=False
        )
        yield NoteLine(Content(""))

    def on_mount(self) -> None:
        """Not there before it is wanted."""
        self.display = False
        self.query_one(SettingInput).display = False

    def on_resize(self) -> None:
        """Fit the frame's words to the new width."""
        self.border_subtitle = Content(keys_that_fit(self._room))
        self.follow()

    def begin(self) -> None:
        """Begin where the person was last."""
        self.display = True
        self.query_one(StageList).focus()
        self._explain()
        self.follow()

    def end(self) -> None:
        """Take it away."""
        self._end_typing()
        self.display = False

    @property
    def _room(self) -> int:
        """Cells for words in the frame."""
        return self.outer_size.width - 6

    def follow(self) -> None:
        """Draw the rows as they are now."""
        if not self.display or not self.is_mounted:
            return
        snapshot = self._conductor.snapshot
        choice = snapshot.choice if snapshot else None
        cursor = Cursor(self._rows.index(self._row), self._cell, self._wrong)
        self.query_one(StageList).show(stage_rows(self._rows, self._dials, choice), cursor, choice)
        titles = titles_of(self._dials.settings, self._conductor.view().history)
        title = next((each for each in titles if len(each) <= self._room), "")
        meaning = self._meaning(choice)
        if title != self._title:
            self._title = title
            self.border_title = Content(title)
        if not self._told and meaning != self._meant:
            self._meant = meaning
            self._note.say(meaning, layout=False)

    # where the person is

    @property
    def _dials(self) -> Dials:
        conductor = self._conductor
        grammar = conductor.settings.grammar
        kind = grammar.kind if grammar is not None else self._kind
        return Dials(conductor.settings, conductor.seed, kind)

    @property
    def _rows(self) -> tuple[Row, ...]:
        return rows_of(self._conductor.settings)

    @property
    def _row(self) -> Row:
        return next(row for row in self._rows if row.name == self._selected)

    @property
    def _field(self) -> Field:
        return self._row.fields[self._cell]

    def _go_to(self, row: int) -> None:
        rows = self._rows
        self._selected, self._cell = rows[max(0, min(row, len(rows) - 1))].name, 0
        self._explain()
        self.follow()

    def on_stage_list_wanted(self, event: StageList.Wanted) -> None:
        """A click, or the wheel."""
        event.stop()
        self._end_typing()
        self._go_to(event.row)

    def action_walk(self, by: int) -> None:
        """To another row."""
        self._go_to(self._rows.index(self._row) + by)

    def action_next_setting(self, by: int) -> None:
        """To another setting of the row."""
        self._end_typing()
        self._cell = (self._cell + by) % len(self._row.fields)
        self._explain()
        self.follow()

    # what changes

    def action_nudge(self, direction: int) -> None:
        """Change the value by a step, within its range."""
        dials = self._field.nudged(self._dials, direction)
        if dials is not None:
            self._apply(dials)

    def action_switch(self) -> None:
        """The stage on or off; a choice of two goes to the other one."""
        if not self._row.stage:
            self.action_nudge(1)
            return
        before = self._conductor.settings
        self._configure(switched(before, self._selected))
        if self._conductor.settings == before:
            self.tell("there is nothing in it yet: enter types it", "warning")

    def action_move(self, by: int) -> None:
        """The stage earlier or later in the chain."""
        if self._row.stage and self._row.in_chain:
            self._configure(moved(self._conductor.settings, self._selected, by))
        else:
            self.tell("only stages of the chain move", "warning")

    def action_own_order(self) -> None:
        """The tradition's own order of the stages."""
        self._configure(self._conductor.settings.replace(stages=()))

    def action_defaults(self) -> None:
        """The row as it is by default."""
        if self._selected == "seed":
            self._conductor.reseed(DEFAULT_SEED)
        self._configure(with_defaults(self._conductor.settings, self._row))

    def action_presets(self) -> None:
        """Go on with the presets."""
        self._leave(True)

    def action_leave(self) -> None:
        """Back to the panels."""
        self._leave(False)

    def _configure(self, settings: SamplerSettings) -> None:
        """Have the settings changed; the answer, a few milliseconds on, is what is drawn.

        Drawing the new value before would take the frame that the answer could be drawn in.
        """
        same = settings == self._conductor.settings
        self._conductor.configure(settings)
        self._explain()
        if same:
            self.follow()

    def _apply(self, dials: Dials) -> None:
        self._kind = dials.kind
        self._conductor.reseed(dials.seed)
        self._configure(dials.settings)

    # typing

    def on_key(self, event: events.Key) -> None:
        """A digit begins a number."""
        if self._typing is None and event.character and event.character in BEGINS_A_NUMBER:
            event.stop()
            self._type(event.character)

    def action_type(self) -> None:
        """Type on at the value's end."""
        self._type(None)

    def _type(self, first: str | None) -> None:
        """Open the field, on the value as it is or on what was typed first."""
        self._typing = self._dials
        box = self.query_one(SettingInput)
        box.display = True
        field = self._field
        with box.prevent(Input.Changed):
            box.value = "" if first is not None else self._refused or field.shown(self._dials)
        box.placeholder = field.label
        box.focus()
        if first is not None:
            box.value = first
        box.cursor_position = len(box.value)

    @property
    def _refused(self) -> str:
        """The text last entered, where the grammar is still the one before it."""
        same = self._conductor.settings.grammar == self._before_draft
        return self._draft if self._field.whole_text and same else ""

    def _end_typing(self) -> None:
        if self._typing is None:
            return
        self._typing, self._wrong = None, False
        self.query_one(SettingInput).display = False
        self.query_one(StageList).focus()
        self._explain()
        self.follow()

    def on_input_changed(self, event: Input.Changed) -> None:
        """Apply what was typed, or say in one line why it can't be."""
        event.stop()
        if self._typing is not None and not self._field.whole_text:
            self._try(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """The value is complete; a text that turns out wrong is there to be mended."""
        event.stop()
        if self._field.whole_text:
            self._draft, self._before_draft = event.value, self._conductor.settings.grammar
        if self._field.whole_text and not self._try(event.value):
            return
        self._end_typing()

    def on_setting_input_left(self, event: SettingInput.Left) -> None:
        """Escape takes the typed value back; the other keys do in the list what they always do."""
        event.stop()
        before = self._typing
        self._end_typing()
        if event.key == "escape" and before is not None:
            self._apply(before)
        elif event.key == "tab":
            self.action_next_setting(1)
        elif event.key in ("up", "down"):
            self.action_walk(1 if event.key == "down" else -1)

    def _try(self, text: str) -> bool:
        box = self.query_one(SettingInput)
        try:
            dials = self._field.typed(text, self._dials)
        except SettingError as error:
            self._wrong = True
            box.add_class("-wrong")
            self._explain(error.allowed)
            self.follow()
            return False
        self._wrong = False
        box.remove_class("-wrong")
        self._apply(dials)
        return True

    # the line below

    def tell(self, text: str, severity: str) -> None:
        """Say one line, until the next key."""
        if severity == "error" and self._field.name == "grammar_kind":
            text = f"{KIND_WAY_OUT}: {text}"
        self._told, self._meant = True, None
        self._note.say(text, severity, layout=False)

    @property
    def _note(self) -> NoteLine:
        return self.query_one(NoteLine)

    def _explain(self, wrong: str | None = None) -> None:
        """Say what the selected setting means, or what is wrong with the typed value."""
        self._told = wrong is not None
        if wrong is not None:
            self._meant = None
            words = Content.assemble((f"✗ {self._field.label}: ", "bold"), wrong)
            self._note.say(words, "error", layout=False)

    def _meaning(self, choice: Choice | None) -> Content:
        """What the selected setting is for, and what its stage has to say now.

        Why a stage that is on does nothing comes first: it must not be what there is no room for.
        """
        field = self._field
        records = choice.stages if choice else ()
        record = next((each for each in records if each.name == self._selected), None)
        said = remark(record) if record else ""
        meaning = Content.assemble((f"{field.label}: ", "bold"), field.help)
        now = Content.styled(f"now: {said}" if said else "", "$text-muted")
        idle = record is not None and record.skipped is not None and not record.off
        parts = (now, meaning) if idle else (meaning, now)
        return Content(" · ").join(part for part in parts if part.plain)


def keys_that_fit(room: int) -> str:
    """The window's keys on one line, the most wanted ones where not all fit."""
    for count in range(len(KEYS), 0, -1):
        line = " · ".join(KEYS[index] for index in sorted(WANTED[:count]))
        if len(line) <= room:
            return line
    return ""
