"""What a command means at this moment.

No Textual in here: the conductor turns commands into requests to the loop, or says in one line why
a command can't be.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokenloop.app.bias import BANNED, changed, toggled_ban
from tokenloop.app.state import Given, State, Then
from tokenloop.sampling.settings import check_seed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tokenloop.app.engine import Engine
    from tokenloop.sampling.settings import SamplerSettings

MAX_WAITING = 2
"""Steps that may wait in the loop's queue: a held key stops when it is let go."""

COOLEST, WARMEST = 0.0, 100.0


class Conductor(State):
    """Stands between the keys and the loop.

    Args:
        engine: the loop.
        tell: as for :class:`State`.
    """

    def __init__(self, engine: Engine, tell: Callable[[str, str], None]) -> None:
        super().__init__(tell)
        self._engine = engine
        self.prompt = ""
        self._show_request: int | None = None
        self._warm_temperature = 0.8

    # the model and the text

    def load(
        self,
        source: str | Path,
        *,
        device: str,
        dtype: str,
        precision: str = "exact",
        threads: int | None,
        settings: SamplerSettings,
        seed: int,
    ) -> None:
        """Load a model; a load that is still going on is abandoned."""
        self.settings, self.seed = settings, seed
        self._warm_temperature = settings.temperature or self._warm_temperature
        self._load_request = self._ask(
            "load",
            self._engine.load(
                source,
                device=device,
                dtype=dtype,
                precision=precision,
                threads=threads,
                settings=settings,
                seed=seed,
            ),
        )

    def open(self, text: str) -> None:
        """Begin on a text; what went on stops."""
        if self.running or self.reading:
            self._engine.pause()
        self.then = None
        self.prompt = text
        self._read(Given("new", text), self._engine.open(text))

    # the loop

    def step(self) -> None:
        """Make the pending draw fact."""
        if self.may("step") and self._keeps_up():
            self._ask("step", self._engine.step())

    def take(self, token_id: int | None) -> None:
        """Append the candidate that the person chose; ``None`` is the marked draw."""
        if token_id is None:
            self.step()
        elif self.may("take a candidate"):
            self._ask("step", self._engine.force(token_id))

    def rewind(self) -> None:
        """Drop the last token."""
        if self.may("rewind", needs_choice=False) and self._keeps_up():
            self._ask("rewind", self._engine.rewind(1))

    def roll(self) -> None:
        """Take the next attempt's u, and the chance of the stages that have one."""
        if self.may("roll again"):
            choice = self.snapshot.choice if self.snapshot else None
            if self.settings.greedy and not (choice and choice.by_chance):
                self._tell("greedy: nothing is drawn, so nothing can be rolled again", "warning")
                return
            self._ask("roll", self._engine.roll())

    def check(self) -> None:
        """Compare what is held with the same prefix computed afresh."""
        if self.may("check"):
            self._ask("check", self._engine.check())

    def resample(self) -> None:
        """Rewind one, roll, step."""
        if self.may("resample", needs_choice=False):
            self._ask("step", self._engine.resample())

    def run_or_pause(self) -> None:
        """Run on until the end of the text, or stop running."""
        if self.running:
            self._engine.pause()
        elif self.may("run on"):
            self._run_request = self._ask("run", self._engine.run(None))

    def run(self, steps: int | None) -> None:
        """Run ``steps`` tokens."""
        if self.may("run on"):
            self._run_request = self._ask("run", self._engine.run(steps))

    def type_text(self, text: str, *, specials: bool = False) -> None:
        """Append text."""
        if text and self.may("type", needs_choice=False):
            self._read(Given("type", text, specials), self._engine.type(text, specials=specials))

    def edit(self, text: str, *, specials: bool = False) -> None:
        """Replace the whole text."""
        if self.may("edit", needs_choice=False):
            self._read(Given("edit", text, specials), self._engine.edit(text, specials=specials))

    def stop(self) -> bool:
        """Stop long work; says whether there was any."""
        if self.running or self.reading or (self._work and not self.loading):
            self._engine.pause()
            return True
        return False

    # the sampler

    def configure(self, settings: SamplerSettings, *, on_trial: bool = False) -> None:
        """Change the settings; the pending draw is made again from the held logits.

        Args:
            settings: the new ones.
            on_trial: whether they are only looked at: greedy does not come back to their
                temperature.
        """
        if not self.may_configure():
            return
        if not settings.greedy and not on_trial:
            self._warm_temperature = settings.temperature
        if settings == self.settings:
            return
        self.settings = settings
        self._configure_request = self._ask("configure", self._engine.configure(settings))

    def heat(self, change: float) -> None:
        """Change the temperature by ``change``, rounded to tenths, within its range."""
        warmer = round(self.settings.temperature + change, 1)
        if change < 0 < self.settings.temperature < -change:
            warmer = 0.0
        self.configure(self.settings.replace(temperature=min(max(warmer, COOLEST), WARMEST)))

    def greedy(self) -> None:
        """T = 0, or back to the temperature before."""
        temperature = self._warm_temperature if self.settings.greedy else 0.0
        self.configure(self.settings.replace(temperature=temperature))

    def ban(self, token_id: int | None) -> None:
        """Ban the highlighted candidate, or allow it again."""
        if self._may_bias(token_id) and token_id is not None:
            biases = toggled_ban(self.settings.logit_bias, token_id)
            self.configure(self.settings.replace(logit_bias=biases))

    def bias(self, token_id: int | None, change: float) -> None:
        """Add to the highlighted candidate's bias; at 0 it has none."""
        if not self._may_bias(token_id) or token_id is None:
            return
        biases = self.settings.logit_bias
        if biases.get(token_id) == BANNED:
            self._tell("banned: b allows it again", "information")
            return
        self.configure(self.settings.replace(logit_bias=changed(biases, token_id, change)))

    def _may_bias(self, token_id: int | None) -> bool:
        """Whether a candidate's bias can be changed now; tells why not."""
        if not self.may_configure():
            return False
        if token_id is None:
            self._tell("no candidate is highlighted: ↑ ↓ choose one", "information")
            return False
        return True

    def reseed(self, seed: int) -> None:
        """Change the seed.

        Raises:
            SettingError: the seed is out of range.
        """
        check_seed(seed)
        if self.may_configure() and seed != self.seed:
            self.seed = seed
            self._configure_request = self._ask("configure", self._engine.reseed(seed))

    def show(self, count: int) -> None:
        """Show more candidates, unless more are on their way already."""
        waits = self.reading or self._show_request in self._work
        if self.snapshot and not self.then and not waits:
            self._show_request = self._ask("show", self._engine.show(count))

    # the laboratory

    def may_ask(self, what: str) -> bool:
        """Whether the held distribution can be asked about, which is so during a run too."""
        if not self.has_text() or self._is_reading() or self._in_the_past():
            return False
        return self._holds_choice(what)

    def ask(self, what: str, put: Callable[[Engine], int]) -> int:
        """Put a question to the loop; :attr:`answered` has its answer, by the number returned."""
        return self._ask(what, put(self._engine))

    def watch(self, token_id: int | None) -> None:
        """Pin a token, or unpin it; ``None`` is the one marked on the screen, now or then."""
        if not self.has_text() or self._is_reading():
            return
        choice = self.view().choice
        if token_id is None and choice is not None:
            token_id = choice.chosen.id
        if token_id is not None:
            self._ask("watch", self._engine.watch(token_id))

    # the two moments

    def look_back(self) -> None:
        """Move the cursor one token back."""
        if self.has_text():
            here = self.then.position if self.then else len(self._prefix)
            self.look_at(here - 1)

    def look_on(self) -> None:
        """Move the cursor one token on; after the last one comes now."""
        if not self.has_text():
            return
        if self.then is None:
            self._tell("this is now: [ looks back", "information")
        elif self.then.position + 1 >= len(self._prefix):
            self.back_to_now()
        else:
            self.look_at(self.then.position + 1)

    def look_at(self, position: int) -> None:
        """Put the cursor on a token and ask for its record."""
        if not self.has_text() or self._is_occupied():
            return
        if not 0 < position < len(self._prefix):
            self._tell("nothing came before the first token: it was given", "information")
            return
        record = self.then.record if self.then else None
        request = self._ask("look", self._engine.look(position))
        self.then = Then(position, request, record)

    def back_to_now(self) -> bool:
        """Leave the past; says whether we were there."""
        was_there = self.then is not None
        self.then = None
        return was_there

    def go_back(self) -> None:
        """Rewind to before the token looked at."""
        if position := self._position_looked_at():
            self.then = None
            self._ask("rewind", self._engine.rewind_to(position))

    def regenerate(self) -> None:
        """Rewind to before the token looked at and run on."""
        if position := self._position_looked_at():
            self.then = None
            self._run_request = self._ask("run", self._engine.regenerate(position, None))

    # whether a command can be

    @property
    def _prefix(self) -> tuple[object, ...]:
        return self.snapshot.prefix if self.snapshot else ()

    def _ask(self, what: str, request: int) -> int:
        self._work[request] = what
        return request

    def _keeps_up(self) -> bool:
        """Whether the loop is no more than a key or two behind."""
        moves = [what for what in self._work.values() if what in ("step", "rewind")]
        return len(moves) < MAX_WAITING

    def _read(self, given: Given, request: int) -> None:
        """A text is on its way; a newer one takes its place."""
        self.given = given
        self._read_request = self._ask("prefill", request)

    def _position_looked_at(self) -> int | None:
        if not self.has_text() or self._is_occupied():
            return None
        if self.then is None:
            self._tell(
                "this is now: [ looks at an earlier token, g then goes back to it", "information"
            )
            return None
        return self.then.position

    def may(self, what: str, *, needs_choice: bool = True) -> bool:
        """Whether a change of the text is possible now; tells why not."""
        if not self.has_text() or self._is_occupied() or self._in_the_past():
            return False
        return not needs_choice or self._holds_choice(what)

    def may_configure(self) -> bool:
        """Whether the sampler's settings can be changed now, which is so during a run too."""
        return self.has_text() and not self._is_reading() and not self._in_the_past()

    def _holds_choice(self, what: str) -> bool:
        if self.snapshot and self.snapshot.choice is None:
            self._tell(self.snapshot.notice or f"no distribution is held: can't {what}", "warning")
            return False
        return True

    def _has_model(self) -> bool:
        if self.model is None:
            still = "the model is still loading" if self.loading else "no model yet: m chooses one"
            self._tell(still, "warning")
        return self.model is not None

    def has_text(self) -> bool:
        """Whether a text is open; tells why not."""
        if not self._has_model():
            return False
        if self.snapshot is None and not self._is_reading():
            self._tell("no text yet: n begins one", "warning")
        return self.snapshot is not None

    def _is_occupied(self) -> bool:
        if self.running:
            self._tell("running: a pauses", "warning")
        elif self.loading:
            self._tell("a model is loading", "warning")
        else:
            return self._is_reading()
        return True

    def _is_reading(self) -> bool:
        if self.reading:
            what = "prompt" if self.opening else "text"
            self._tell(f"the {what} is being read: esc stops", "warning")
        return self.reading

    def _in_the_past(self) -> bool:
        if self.then:
            self._tell("an earlier token: esc back to now · g go back to it for real", "warning")
        return self.then is not None
