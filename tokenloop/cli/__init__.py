"""The command line: the app, and the same session without a screen.

Importing it loads click alone; torch, numpy and Textual come when a command needs them.
"""

from __future__ import annotations

import sys


def main() -> None:
    """Run the program on the process's arguments and exit with its code."""
    from tokenloop.cli.program import run_program

    sys.exit(run_program(sys.argv[1:]))
