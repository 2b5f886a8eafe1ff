"""Drives the app headless, with the fake loop and a clock that stands still."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.app.fake_loop import FakeLoop
from tokenloop.app.application import TokenloopApp
from tokenloop.app.options import Options
from tokenloop.app.screens.editor import EditorScreen, TypeScreen
from tokenloop.app.screens.help import HelpScreen
from tokenloop.app.screens.models import ModelsScreen
from tokenloop.app.screens.presets import PresetsScreen
from tokenloop.app.screens.run_until import RunUntilScreen
from tokenloop.app.screens.start import StartScreen

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from textual.pilot import Pilot

    from tokenloop.app.conductor import Conductor
    from tokenloop.app.screens.main import MainScreen


PATIENCE_SECONDS = 120.0

WINDOWS = [
    ("t", TypeScreen),
    ("e", EditorScreen),
    ("A", RunUntilScreen),
    ("P", PresetsScreen),
    ("n", StartScreen),
    ("m", ModelsScreen),
    ("question_mark", HelpScreen),
]
"""The keys that open a window, and what each opens."""


@dataclass
class Driven:
    """The app with a fake loop and a frozen clock, and what drives it."""

    app: TokenloopApp
    pilot: Pilot[None]
    loop: FakeLoop

    async def press(self, *keys: str) -> None:
        """Press keys and wait until everything they caused is drawn."""
        await self.pilot.press(*keys)
        await self.settle()

    async def settle(self) -> None:
        """Wait until all mail was taken in and painted, and no message waits anywhere."""
        quiet, end = 0, time.monotonic() + PATIENCE_SECONDS
        while quiet < 4:
            await self.pilot.pause()
            if self.app._exception is not None:
                raise self.app._exception
            assert time.monotonic() < end, "the app did not come to rest"
            quiet = quiet + 1 if self._at_rest() else 0

    def _at_rest(self) -> bool:
        pumps = [self.app, *self.app.screen_stack, *self.app.screen.query("*")]
        return (
            (not self.app.typing or self.app._exit)
            and self.app._painting_since is None
            and not self.app._mailbox._letters
            and not any(pump.message_queue_size for pump in pumps)
        )

    @property
    def conductor(self) -> Conductor:
        return self.app.conductor

    @property
    def main(self) -> MainScreen:
        return self.app.panels

    @property
    def labels(self) -> list[str]:
        """The prefix on screen."""
        return [item.token.label for item in self.main.view.prefix]

    @property
    def notice(self) -> str:
        """The line that stands where the keys were."""
        if not self.main.has_class("-notice"):
            return ""
        return str(self.main.query_one("#notice").render())

    @property
    def focused(self) -> str | None:
        """The focused panel."""
        return self.main.focused.id if self.main.focused else None

    @property
    def shown(self) -> list[str]:
        """The panels on screen."""
        names = ("text", "candidates", "sampler", "cache", "latency", "summary")
        return [name for name in names if self.main.query_one(f"#{name}").display]

    @property
    def footer(self) -> str:
        """The line of keys."""
        return self.main._keys.render_line(0).text

    def calls(self, name: str) -> list[tuple[object, ...]]:
        """The arguments of every call of a command."""
        return [call[1:] for call in self.loop.calls if call[0] == name]


@asynccontextmanager
async def driven(
    size: tuple[int, int] = (140, 40),
    *,
    prompt: str | None = "The capital of Australia is",
    hold: bool = False,
    **options: Any,
) -> AsyncIterator[Driven]:
    """Run the app headless with a fake loop, its clock standing still."""
    loops: list[FakeLoop] = []

    def make(on_event: Any) -> FakeLoop:
        loop = FakeLoop(on_event)
        loop.hold = hold
        loops.append(loop)
        return loop

    keymap = options.pop("keymap", None)
    app = TokenloopApp(
        Options(source=options.pop("source", "fake"), prompt=prompt, **options),
        make,
        keymap=keymap,
        clock=lambda: 0.0,
    )
    async with app.run_test(size=size) as pilot:
        world = Driven(app, pilot, loops[0])
        await world.settle()
        yield world
