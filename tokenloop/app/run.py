"""Runs the app on a terminal and gives the terminal back, whatever happens."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from functools import partial
from typing import TYPE_CHECKING

from tokenloop.app.signals import leaving_signals
from tokenloop.app.terminal import log_path, private_terminal
from tokenloop.app.words import one_line

if TYPE_CHECKING:
    from tokenloop.app.application import TokenloopApp
    from tokenloop.app.options import Options


def run(options: Options, keymap: dict[str, str]) -> int:
    """Open the app; see :func:`tokenloop.app.run_app`."""
    with private_terminal():
        # Imported inside: Textual takes hold of the terminal's streams.
        from tokenloop.app.application import TokenloopApp
        from tokenloop.loop import Loop

        app = TokenloopApp(options, Loop, keymap=keymap)
        fault = _run(app)
    if fault:
        with contextlib.suppress(OSError):
            print(f"tokenloop: unexpected {fault}; details: {log_path()}", file=sys.stderr)
        return 1
    return app.return_code or 0


def _run(app: TokenloopApp) -> str | None:
    """Run until the person leaves; returns what went wrong, in a few words."""
    try:
        asyncio.run(_with_signals(app))
    except OSError as error:  # the terminal went away under the last lines
        return None if app.return_code else one_line(str(error))
    fault = app._exception
    return one_line(f"{type(fault).__name__}: {fault}") if fault else None


async def _with_signals(app: TokenloopApp) -> None:
    """Run the app; a signal that can be caught leaves it the way the quit key does."""
    loop = asyncio.get_running_loop()
    for number in leaving_signals():
        with contextlib.suppress(NotImplementedError):  # an event loop without signals
            loop.add_signal_handler(number, partial(app.exit, return_code=128 + number))
    await app.run_async()
