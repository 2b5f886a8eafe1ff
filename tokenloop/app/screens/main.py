"""The main screen: five panels that draw one view, and the commands of the keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.containers import Container
from textual.reactive import reactive
from textual.widgets import Static

from tokenloop.app.drawing import (
    Panels,
    band_text,
    draw_latency,
    draw_panels,
    footer_keys,
    show_status,
)
from tokenloop.app.keys import COMMANDS, PANEL_OF, PANELS
from tokenloop.app.layout import Layout, arrange
from tokenloop.app.screens.notice import NoticeScreen
from tokenloop.app.screens.sampler import SamplerEditor
from tokenloop.app.view import View
from tokenloop_widgets import (
    CandidatesPanel,
    Key,
    KeyBar,
    StatusBar,
    SummaryPanel,
    TextPanel,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual import events
    from textual.app import ComposeResult
    from textual.timer import Timer

    from tokenloop.app.conductor import Conductor

TYPING_SECONDS = 1.0
"""The pause that ends a text typed for a window that did not open."""


class MainScreen(NoticeScreen):
    """Draws the conductor's view and hands the keys' commands to it.

    Args:
        conductor: what a command means now.
        keymap: the person's own keys, by command id.
        carry_out: takes the commands that are the app's, and opens their windows at once.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding(command.keys, f"do('{command.id}')", command.help, id=command.id, show=False)
        for command in COMMANDS
    ]

    view: reactive[View] = reactive(View(), init=False, repaint=False)
    zoomed: reactive[str | None] = reactive(None, init=False)
    probabilities: reactive[bool] = reactive(True, init=False)
    room: reactive[int] = reactive(0, init=False)
    editing: reactive[bool] = reactive(False, init=False)

    def __init__(
        self,
        conductor: Conductor,
        keymap: dict[str, str],
        carry_out: Callable[[str], object],
    ) -> None:
        super().__init__()
        self._carry_out = carry_out
        self._conductor = conductor
        self._keymap = keymap
        self.panels = Panels()
        self._space = Container(id="panels")
        self._status = StatusBar(id="status")
        self._band = Static(id="band")
        self._editor = SamplerEditor(conductor, self._leave_editor)
        self._keys = KeyBar(id="keys")
        self._layout: Layout = "wide"
        self._keys_shown: list[Key] = []
        self._typed_blindly: Timer | None = None

    def compose(self) -> ComposeResult:
        """Status, panels, keys."""
        yield self._status
        yield self._band
        with self._space:
            for panel in self.panels:
                yield panel
                if panel is self.panels.sampler:
                    yield self._editor
            yield self.panels.summary
        yield self._keys
        yield self.notice

    def on_mount(self) -> None:
        """Begin with the candidates in focus: their keys are the ones that walk."""
        self.panels.candidates.focus()
        self.follow()

    # drawing

    def follow(self) -> None:
        """Draw what the conductor holds now."""
        view = self._conductor.view()
        if not view.draws_the_same_as(self.view):
            self.view = view
        self._editor.follow()
        show_status(self._status, self._conductor)
        keys = footer_keys(self._conductor, self._keymap)
        if keys != self._keys_shown:
            self._keys_shown = keys
            self._keys.show(keys)

    def watch_view(self, old: View, new: View) -> None:
        """Another view: draw the panels, and mark what landed."""
        if not new.draws_the_same_as(old):
            self._draw(landed=new.landed if new.snapshot is not old.snapshot else 0)

    def watch_probabilities(self) -> None:
        """Probabilities under the tokens, or not."""
        self._draw()

    def watch_zoomed(self) -> None:
        """A panel in full, or all of them."""
        self._arrange()

    def watch_room(self) -> None:
        """A window takes the bottom, or gives it back."""
        self._arrange()

    def make_room(self, rows: int) -> None:
        """Leave the last rows to a window; the panels there make way whole."""
        self.room = rows

    def watch_editing(self) -> None:
        """The window of the sampler's stages takes its place, or gives it back."""
        self._arrange()

    def edit_sampler(self) -> None:
        """Open the list of the sampler's stages in the place of their panel."""
        self.editing = True
        self._editor.begin()

    def _leave_editor(self, presets: bool) -> None:
        self.editing = False
        self._editor.end()
        self.panels[self._focused_id()].focus()
        if presets:
            self._carry_out("presets_and_back")

    def on_resize(self, event: events.Resize) -> None:
        """Arrange for the new size."""
        self._layout = arrange(self, event.size)
        self._arrange()

    def show_paint(self, paint_ms: float) -> None:
        """Show what the last change took to paint: only where it stands, for it paints again."""
        view = self.view = self.view.with_paint(paint_ms)
        draw_latency(self.panels, view)
        self._editor.follow()

    def _draw(self, *, landed: int = 0) -> None:
        past = self.view.moment == "then"
        self.set_class(past, "-then")
        self._band.update(band_text(self.view), layout=False)
        draw_panels(self.panels, self.view, probabilities=self.probabilities, landed=landed)

    def _arrange(self) -> None:
        large = self._layout in ("wide", "medium")
        zoomed = None if self.editing else self.zoomed
        self.set_class(zoomed is not None, "-zoomed")
        self.panels.sampler.show_full(zoomed == "sampler")
        self.set_class(self.room > 0, "-room")
        self.set_class(self.editing, "-editing")
        self._space.styles.margin = (0, 0, self.room, 0)
        hidden = self._without_place(large)
        for panel in self.panels:
            panel.display = panel.id == zoomed if zoomed else panel.id not in hidden
            panel.set_class(self._layout == "tiny", "-bare")
        self.panels.summary.display = not (
            large or self._layout == "tiny" or zoomed or self.room or self.editing
        )

    def _without_place(self, large: bool) -> tuple[str, ...]:
        """The panels that this arrangement has no place for."""
        if self.editing and large:
            return ("sampler", "cache")
        if self.editing and self._layout == "tiny":
            return ("text", "sampler", "cache", "latency")
        if self.room and large:
            return ("cache", "latency")
        return () if large else ("sampler", "cache", "latency")

    # notices

    def tell(self, text: str, severity: str = "information") -> None:
        """Say one line where the keys stand, or in the window of the sampler's stages."""
        if self.editing:
            self._editor.tell(text, severity)
        else:
            super().tell(text, severity)

    # commands

    def action_do(self, command: str) -> None:
        """Carry out a command of the table, unless a window is open above."""
        if self.app.screen is not self:
            return
        if self.editing:
            self._while_editing(command)
            return
        if self._ignores(command):
            return
        self.hush()
        conductor, candidates = self._conductor, self.panels.candidates
        match command:
            case "step":
                conductor.step()
            case "rewind":
                conductor.rewind()
            case "check":
                self._conductor.check()
            case "roll":
                conductor.roll()
            case "resample":
                conductor.resample()
            case "run":
                conductor.run_or_pause()
            case "candidate_up":
                candidates.action_move(-1)
            case "candidate_down":
                candidates.action_move(1)
            case "candidate_page_up":
                candidates.action_page(-1)
            case "candidate_page_down":
                candidates.action_page(1)
            case "candidate_first":
                candidates.action_home()
            case "candidate_last":
                candidates.action_end()
            case "take":
                conductor.take(candidates.highlighted)
            case "ban":
                conductor.ban(candidates.highlighted)
            case "bias_down":
                conductor.bias(candidates.highlighted, -1)
            case "bias_up":
                conductor.bias(candidates.highlighted, 1)
            case "watch":
                conductor.watch(candidates.highlighted)
            case "probabilities":
                self.probabilities = not self.probabilities
            case "look_back":
                conductor.look_back()
            case "look_on":
                conductor.look_on()
            case "go_back":
                conductor.go_back()
            case "regenerate":
                conductor.regenerate()
            case "cancel":
                self._cancel()
            case "cooler":
                conductor.heat(-0.1)
            case "warmer":
                conductor.heat(0.1)
            case "greedy":
                conductor.greedy()
            case "focus_next":
                self._focus_by(1)
            case "focus_previous":
                self._focus_by(-1)
            case "zoom":
                self._zoom()
            case number if number in PANEL_OF:
                self._focus_panel(PANEL_OF[number])
            case other:
                self._carry_out(other)
        self.follow()

    def _while_editing(self, command: str) -> None:
        """A key that is none of the list's: the commands wait; esc comes back from anywhere."""
        if command == "cancel":
            self._leave_editor(False)
        else:
            self._editor.begin()

    def ignore_typing(self) -> None:
        """Take no commands until a pause: what follows is text for a window that did not open."""
        if self._typed_blindly:
            self._typed_blindly.stop()
        self._typed_blindly = self.set_timer(TYPING_SECONDS, self._listen)

    def _listen(self) -> None:
        self._typed_blindly = None

    def _ignores(self, command: str) -> bool:
        """Whether a command is but a letter of such a text; says again why there is no window."""
        if self._typed_blindly is None:
            return False
        if command == "cancel":
            self._typed_blindly.stop()
            self._listen()
            return False
        self.ignore_typing()
        if self._conductor.may("type", needs_choice=False):
            self.tell("typed for a window that did not open: nothing was done", "warning")
        return True

    def _cancel(self) -> None:
        """Back to now, else stop work, else leave the full view, else put the cursor away."""
        candidates = self.panels.candidates
        if self._conductor.back_to_now() or self._conductor.stop():
            return
        if self.zoomed is not None:
            self._unzoom()
        elif candidates.highlighted is not None:
            candidates.clear_highlight()

    # panels

    def _shown_ids(self) -> list[str]:
        return [name for name in PANELS if self.panels[name].display]

    def _focused_id(self) -> str:
        focused = self.focused.id if self.focused else None
        return focused if focused in PANELS else "candidates"

    def _focus_by(self, by: int) -> None:
        here = PANELS.index(self._focused_id())
        names = PANELS if self.zoomed else self._shown_ids()
        there = PANELS[(here + by) % len(PANELS)]
        while there not in names:
            there = PANELS[(PANELS.index(there) + by) % len(PANELS)]
        self._focus_panel(there)

    def _focus_panel(self, name: str) -> None:
        """Focus a panel; one that has no place here opens in full."""
        panel = self.panels[name]
        if self.zoomed == name and self._layout in ("small", "tiny"):
            self._unzoom()
            return
        if self.zoomed or not panel.display:
            self.zoomed = name
        panel.focus()

    def _zoom(self) -> None:
        if self.zoomed:
            self._unzoom()
        else:
            self.zoomed = self._focused_id()

    def _unzoom(self) -> None:
        self.zoomed = None
        if not self.panels[self._focused_id()].display:
            self.panels.candidates.focus()

    # the mouse, and what panels ask for

    def on_text_panel_token_pressed(self, event: TextPanel.TokenPressed) -> None:
        """Look at the clicked token."""
        if not self.editing:
            self._conductor.look_at(event.position)
            self.follow()

    def on_candidates_panel_pressed(self, event: CandidatesPanel.Pressed) -> None:
        """Enter or a click; ``event.id`` can't tell the marked draw from a choice of it."""
        self.action_do("take")

    def on_paste(self, event: events.Paste) -> None:
        """A text is no commands; say where it belongs."""
        event.stop()
        self.tell("a paste needs a window: t appends, e edits, n begins", "warning")

    def on_candidates_panel_need_more(self, event: CandidatesPanel.NeedMore) -> None:
        """Show more candidates."""
        self._conductor.show(event.count)

    def on_summary_panel_pressed(self, event: SummaryPanel.Pressed) -> None:
        """Open the clicked line's panel in full."""
        self._focus_panel(event.panel)

    def on_key_bar_pressed(self, event: KeyBar.Pressed) -> None:
        """Do what the clicked key does."""
        self.action_do(event.action)
