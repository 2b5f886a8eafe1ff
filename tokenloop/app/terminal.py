"""Keeps the screen for Textual alone, and gives it back.

Textual draws on standard error. Native code in this process (torch, BLAS, a driver) may print to
file descriptors 1 and 2 at any time, which would tear the picture. So, while the app runs, both
descriptors point at a log file and Textual holds a private copy of the terminal.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from platformdirs import user_log_dir

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LOG_BYTES = 1 << 20


def log_path() -> Path:
    """The file that takes what would otherwise tear the screen."""
    return Path(user_log_dir("tokenloop")) / "tokenloop.log"


@contextlib.contextmanager
def private_terminal() -> Iterator[None]:
    """Point descriptors 1 and 2 at a log, and Textual at a copy of the terminal.

    ``sys.__stdout__`` and ``sys.__stderr__`` are the terminal inside: Textual draws on the one and
    measures the other. Everything is put back on leaving, whatever happened.
    """
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    saved = os.dup(1), os.dup(2)
    terminal_fd = os.dup(2 if os.isatty(2) else 1)
    terminal = os.fdopen(terminal_fd, "w", encoding="utf-8", errors="replace", newline="")
    log_fd = _open_log(log_path())
    before = sys.__stdout__, sys.__stderr__
    try:
        os.dup2(log_fd, 1)
        os.dup2(log_fd, 2)
        sys.__stdout__, sys.__stderr__ = terminal, terminal  # type: ignore[misc]  # Final in typeshed
        faulthandler.enable(log_fd)
        yield
    finally:
        faulthandler.disable()
        with contextlib.suppress(OSError):
            sys.stdout.flush()
            sys.stderr.flush()
        sys.__stdout__, sys.__stderr__ = before  # type: ignore[misc]  # Final in typeshed
        os.dup2(saved[0], 1)
        os.dup2(saved[1], 2)
        with contextlib.suppress(OSError):  # the terminal may be gone (SIGHUP)
            terminal.close()
        for descriptor in (*saved, log_fd):
            os.close(descriptor)


def _open_log(path: Path) -> int:
    """A descriptor to append to; the null device where no log can be written."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        too_long = path.exists() and path.stat().st_size > MAX_LOG_BYTES
        flags = os.O_WRONLY | os.O_CREAT | (os.O_TRUNC if too_long else os.O_APPEND)
        flags |= getattr(os, "O_NONBLOCK", 0)  # a pipe that nobody reads would wait for ever
        return os.open(path, flags, 0o600)
    except OSError:
        return os.open(os.devnull, os.O_WRONLY)
