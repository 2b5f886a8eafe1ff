"""The app: builds the parts and carries events from the loop to the screens."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, ClassVar, Protocol, runtime_checkable

from tokenloop.app.conductor import Conductor
from tokenloop.app.driver import driver_class, shell_waits
from tokenloop.app.keys import BY_ID, keys_of
from tokenloop.app.mailbox import Mailbox
from tokenloop.app.messages import News, SupplyChanged, Wanted
from tokenloop.app.one_by_one import OneByOneApp
from tokenloop.app.palette import CommandProvider
from tokenloop.app.safety import ControlFilter
from tokenloop.app.screens.main import MainScreen
from tokenloop.app.screens.start import StartScreen
from tokenloop.app.supply import Supply, must_be_fetched, offer_for, title_of
from tokenloop.app.windows import give_back, open_window
from tokenloop.loop.events import Changed, Loaded
from tokenloop_widgets import DARK, LIGHT

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from textual.screen import Screen

    from tokenloop.app.engine import MakeEngine
    from tokenloop.app.options import Options

PULSE_SECONDS = 0.12
PAINT_PATIENCE_SECONDS = 0.5

TAKES_TEXT = ("type", "edit")
"""Windows behind whose key people go on typing, whether they open or not."""

# What the widgets' panels bind themselves follows the person's keys for the same commands.
PANEL_BINDINGS = {
    "candidate_up": "candidates.up",
    "candidate_down": "candidates.down",
    "candidate_page_up": "candidates.page_up",
    "candidate_page_down": "candidates.page_down",
    "candidate_first": "candidates.home",
    "candidate_last": "candidates.end",
    "take": "candidates.take",
}


@runtime_checkable
class Follower(Protocol):
    """A screen that draws what the conductor holds."""

    def follow(self) -> None:
        """Draw it as it is now."""


@runtime_checkable
class Teller(Protocol):
    """A screen with a place for one line to the person."""

    is_mounted: bool

    def tell(self, text: str, severity: str) -> None:
        """Say it; ``severity`` is ``information``, ``warning`` or ``error``."""


@runtime_checkable
class Asker(Protocol):
    """A screen that draws answers, and whose keys act on them."""

    def needs_answer(self, key: str) -> bool:
        """Whether a key acts on what is still being computed."""


class TokenloopApp(OneByOneApp):
    """The program on a screen.

    Args:
        options: what to load, and how.
        make_engine: builds the loop around the callback that takes its events.
        keymap: the person's own keys, by command id.
        clock: seconds; tests freeze it.
    """

    CSS_PATH = "style.tcss"
    TITLE = "tokenloop"
    COMMANDS: ClassVar = {CommandProvider}

    def __init__(
        self,
        options: Options,
        make_engine: MakeEngine,
        *,
        keymap: dict[str, str] | None = None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        super().__init__(driver_class())
        self.options = options
        self.commands_keymap = dict(keymap or {})
        self._filters.append(ControlFilter())
        self._clock = clock
        self._mailbox = Mailbox(self._wake, clock)
        self._engine = make_engine(self._mailbox.put)
        self.conductor = Conductor(self._engine, self.tell)
        self.supply = Supply(self._supply_moved)
        self._prompt = options.prompt
        self.panels = MainScreen(self.conductor, self.commands_keymap, self.carry_out)
        self._painting_since: float | None = None
        self._changed_at: float | None = None
        self._paints = 0
        for theme in (DARK, LIGHT):
            self.register_theme(theme)
        self.theme = (LIGHT if options.theme == "light" else DARK).name

    # life

    def get_default_screen(self) -> Screen[None]:
        """The panels; everything else opens above them."""
        return self.panels

    def on_mount(self) -> None:
        """Begin to load, and ask for a prompt meanwhile."""
        panel_keys = {
            PANEL_BINDINGS[command]: keys
            for command, keys in self.commands_keymap.items()
            if command in PANEL_BINDINGS
        }
        self.set_keymap({**self.commands_keymap, **panel_keys})
        self.app_resume_signal.subscribe(self, lambda _: self.refresh(layout=True))
        self.screen_change_signal.subscribe(self, lambda _: self._wait_for_paint(), immediate=True)
        self.set_interval(PULSE_SECONDS, self._pulse)
        self.load(self.options.source)
        if self._prompt is None:
            self.ask_for_prompt()

    def on_unmount(self) -> None:
        """Stop what still runs."""
        self.supply.stop()
        self._engine.close()

    def load(self, source: str | Path) -> None:
        """Load a model; the text that is open goes on in it."""
        options, conductor = self.options, self.conductor
        self.source = source
        fresh = conductor.snapshot is None
        conductor.load(
            source,
            device=options.device,
            dtype=options.dtype,
            precision=options.precision,
            threads=options.threads,
            settings=options.settings if fresh else conductor.settings,
            seed=options.seed if fresh else conductor.seed,
        )
        self._follow()

    def ask_for_prompt(self, prompt: str | None = None, reason: str = "") -> None:
        """Open the start screen, with a prompt (the last one) in the field.

        Args:
            prompt: to begin with.
            reason: why it could not be used, if it is back for that.
        """
        start = StartScreen(
            self.conductor,
            self.supply,
            offer=lambda: offer_for(self.source),
            title=title_of(self.source),
            prompt=self.conductor.prompt if prompt is None else prompt,
            reason=reason,
            carry_out=self.carry_out,
        )
        self.push_screen(start, self._begin)

    def _begin(self, prompt: str | None) -> None:
        if prompt is not None:
            self.conductor.open(prompt)
        self._follow()

    # from the loop to the screens

    def _wake(self) -> None:
        """On the loop's thread: have the mailbox emptied."""
        self.post_message(News())

    def on_news(self) -> None:
        """Take the mail in, unless what came before is still being painted."""
        if self._painting_since is None:
            self._take_mail()

    def _take_mail(self) -> None:
        # On the way out there are mail and timers, but no screen any more.
        letters = self._mailbox.take() if self.screen_stack else []
        if not letters:
            return
        self._changed_at = None
        for letter in letters:
            before = self.conductor.snapshot
            self.conductor.handle(letter.event)
            if isinstance(letter.event, Changed):
                self._changed_at = letter.arrived
            elif isinstance(letter.event, Loaded):
                self._loaded(before.text if before else self._prompt)
        self._painting_since = self._clock()
        self._follow()
        self._give_back()
        self._wait_for_paint()

    def _wait_for_paint(self) -> None:
        """Have it told when the screen is painted; a screen that goes takes the request along."""
        if self._painting_since is not None:
            self._paints += 1
            # By way of a panel: once it has its turn, every widget has said what is to be painted.
            behind = partial(self.call_after_refresh, self._painted, self._paints)
            self.panels.panels.latency.call_later(behind)

    def _painted(self, number: int) -> None:
        """What was taken in is on the screen: measure, then take in what came meanwhile."""
        if number != self._paints or self._painting_since is None:
            return
        self._painting_since = None
        if self._changed_at is not None:
            self.conductor.paint_ms = (self._clock() - self._changed_at) * 1e3
            self.panels.show_paint(self.conductor.paint_ms)
        self._take_mail()

    def _loaded(self, text: str | None) -> None:
        """Go on with the text that was open in the model before, or begin with the prompt."""
        if text is not None:
            self._prompt = None
            self.conductor.open(text)

    def _pulse(self) -> None:
        """Keep the busy mark alive, and never leave mail lying if a paint got lost."""
        since = self._painting_since
        if since is not None and self._clock() - since > PAINT_PATIENCE_SECONDS:
            self._painting_since = None
        if self._painting_since is None:
            self._take_mail()
        if self.conductor.pulse():
            self._follow()
        self._give_back()

    def _give_back(self) -> None:
        """Hand a text back that could not be used, as soon as no other window is open."""
        if self.screen_stack[-1:] == [self.panels] and (refused := self.conductor.take_refused()):
            give_back(self, refused)

    def _follow(self) -> None:
        for screen in self.screen_stack:
            if isinstance(screen, Follower) and screen.is_mounted:
                screen.follow()
        self.go_on()

    def needs_answer(self, key: str) -> bool:
        """Whether the open screen says so."""
        top = self.screen_stack[-1] if self.screen_stack else None
        return isinstance(top, Asker) and top.needs_answer(key)

    # notices

    def tell(self, text: str, severity: str) -> None:
        """Say one line to the person, on the screen that is open."""
        top = self.screen_stack[-1] if self.screen_stack else None
        screen = top if isinstance(top, Teller) else self.panels
        if screen.is_mounted:
            screen.tell(text, severity)

    # commands of the app's

    def on_wanted(self, event: Wanted) -> None:
        """What the palette chose, as if its key had been pressed."""
        self.panels.action_do(event.command)

    def carry_out(self, command: str) -> None:
        """Carry out a command of the app's, at once: the next key must find its window open."""
        match command:
            case "quit":
                self.exit()
            case "suspend":
                self._suspend()
            case "theme":
                self.theme = (LIGHT if self.theme == DARK.name else DARK).name
            case "palette":
                self.action_command_palette()
            case "pull":
                self._pull()
            case window:
                open_window(self, window)
                if window in TAKES_TEXT and self.conductor.reading and self.screen is self.panels:
                    self.panels.ignore_typing()

    def action_help_quit(self) -> None:
        """Say how to quit: by habit many press ctrl+c."""
        quitting = " or ".join(keys_of(BY_ID["quit"], self.commands_keymap))
        on_panels = self.screen is self.panels
        self.tell(f"{quitting if on_panels else 'ctrl+q'} quits", "information")

    def _suspend(self) -> None:
        """Stop in favour of the shell that this was started from."""
        if shell_waits():
            self.action_suspend_process()
        else:
            self.tell("no shell waits behind this program: q quits", "warning")

    def action_command_palette(self) -> None:
        """Open the palette above the panels; a window has its own keys."""
        if self.screen is self.panels:
            super().action_command_palette()

    # a model that is missing

    def _pull(self) -> None:
        offer = offer_for(self.source)
        if offer and not self.supply.pulling:
            self.supply.pull(offer.name)
            self._follow()

    def bring(self, source: str) -> None:
        """Load a model; one that is only in the catalogue or on the hub is fetched first."""
        from tokenloop_models.errors import ModelError

        try:
            missing = must_be_fetched(source)
        except ModelError as error:
            self.tell(str(error), "error")
            return
        if not missing:
            self.load(source)
        elif self.supply.pulling:
            self.tell("one at a time: another model is being fetched", "warning")
        else:
            self.supply.pull(source)
            self._follow()

    def _supply_moved(self) -> None:
        """On the pull's thread."""
        self.post_message(SupplyChanged())

    def on_supply_changed(self) -> None:
        """Show how far it is; load what arrived."""
        self.conductor.fetching = self.supply.progress
        if arrived := self.supply.take_arrived():
            self.load(arrived)
        elif failure := self.supply.take_failure():
            self.tell(failure, "error")
        self._follow()
