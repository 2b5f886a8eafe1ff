"""Draws the pictures of the README: the real model in the real app, driven without a terminal."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from textual.pilot import Pilot

    from tokenloop.app.application import TokenloopApp

FOLDER = Path(__file__).parent
PROMPT = "The capital of Australia is"
PATIENCE_SECONDS = 120.0
LABORATORY = {"v": "stages", "d": "draws", "f": "sweep", "o": "orders"}
"""Pictures of the laboratory's views, by the key that opens each."""


async def main() -> None:
    """Make every picture."""
    async with opened((140, 40)) as (app, pilot):
        await press(app, pilot, "space")
        save(app, "australia-step")
        await edit(app, pilot, "Sydney", "Canberra")
        save(app, "australia-edited")
        await press(app, pilot, "s", *["right"] * 4)
        save(app, "sampler")
    async with opened((80, 24)) as (app, pilot):
        await press(app, pilot, "space")
        save(app, "small")
    async with opened((140, 40)) as (app, pilot):
        for key, name in LABORATORY.items():
            await press(app, pilot, key)
            save(app, name)
            await press(app, pilot, "escape")


@asynccontextmanager
async def opened(size: tuple[int, int]) -> AsyncIterator[tuple[TokenloopApp, Pilot[None]]]:
    """The app with the default model and the prompt read."""
    from tokenloop.app.application import TokenloopApp
    from tokenloop.app.options import Options
    from tokenloop.loop import Loop
    from tokenloop_models.catalogue import DEFAULT

    app = TokenloopApp(Options(source=DEFAULT, device="cpu", prompt=PROMPT), Loop)
    async with app.run_test(size=size) as pilot:
        await until_at_rest(app, pilot)
        yield app, pilot


async def press(app: TokenloopApp, pilot: Pilot[None], *keys: str) -> None:
    """Press keys one by one, each when the loop has done what the one before asked for."""
    for key in keys:
        await pilot.press(key)
        await until_at_rest(app, pilot)


async def edit(app: TokenloopApp, pilot: Pilot[None], old: str, new: str) -> None:
    """Replace a word in the editor, as a person would."""
    from textual.widgets import TextArea

    await press(app, pilot, "e")
    area = app.screen.query_one(TextArea)
    area.load_text(area.text.replace(old, new))
    await press(app, pilot, "ctrl+s")


async def until_at_rest(app: TokenloopApp, pilot: Pilot[None]) -> None:
    """Wait until a text is open, nothing is being worked on and all of it is drawn."""
    waited = 0.0
    while app.conductor.snapshot is None or app.conductor.busy_with is not None:
        await pilot.pause(0.05)
        waited += 0.05
        if waited > PATIENCE_SECONDS:
            raise TimeoutError("the loop did not come to rest")
    await pilot.pause(0.2)


def save(app: TokenloopApp, name: str) -> None:
    """Write one picture."""
    from screenshots.svg import tidy

    for area in app.screen.query("Input"):
        area.cursor_blink = False  # type: ignore[attr-defined]  # Input's own
    path = FOLDER / f"{name}.svg"
    path.write_text(tidy(app.export_screenshot(title="tokenloop")), encoding="utf-8")
    print(path)


if __name__ == "__main__":
    os.environ["TEXTUAL_ANIMATIONS"] = "none"
    from tokenloop_models.errors import ModelError

    try:
        asyncio.run(main())
    except (ModelError, TimeoutError) as error:
        sys.exit(f"screenshots: {error}")
