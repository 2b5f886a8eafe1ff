"""The command line: the app, and the same session without a screen.

Importing it loads click alone; torch, numpy and Textual come when a command needs them.
"""

from __future__ import annotations

import io
import os
import sys


def main() -> None:
    """Run the program on the process's arguments and exit with its code."""
    from tokenloop.app.signals import leave_by_exception
    from tokenloop.cli.program import run_program

    _open_closed_streams()
    _print_any_character()
    leave_by_exception()  # a progress bar hides the cursor, a pull has a workbench: both are undone
    sys.exit(run_program(sys.argv[1:]))


def _open_closed_streams() -> None:
    """Python leaves a standard stream that was closed before the start as ``None``."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115, PTH123 - open until the end


def _print_any_character() -> None:
    """Where the terminal's encoding lacks a character, its escape is printed in its place."""
    if isinstance(sys.stdout, io.TextIOWrapper):  # stderr does so by itself
        sys.stdout.reconfigure(errors="backslashreplace")
