"""What is printed for people on stdout: rich, on whatever stdout is."""

from __future__ import annotations

import sys

from rich.console import Console
from rich.text import Text

from tokenloop.labels import clean

WIDTH_OF_A_FILE = 200
"""In columns: a file or a pipe has no width, so that lines there stay whole."""


class Paper(Console):
    """A console whose reader may go away: the program's own way out is taken then."""

    def on_broken_pipe(self) -> None:
        """Let it through: rich would exit with 1, as after a fault."""
        raise BrokenPipeError


def paper() -> Console:
    """Return a console on stdout that prints what it is given and interprets nothing in it."""
    width = None if sys.stdout.isatty() else WIDTH_OF_A_FILE
    return Paper(markup=False, emoji=False, highlight=False, width=width)


def safe_text(text: str) -> Text:
    """Make model text printable: its lines stay lines, no character of it drives the terminal."""
    return Text("\n".join(clean(line) for line in text.split("\n")))
