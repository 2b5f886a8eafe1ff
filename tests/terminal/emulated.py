"""The real program in a pseudo-terminal, its screen read back through a terminal emulator."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import shlex
import signal
import struct
import subprocess
import sys
import termios
import time
from typing import TYPE_CHECKING, Self

import pyte

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

PATIENCE_SECONDS = 90.0
ESCAPE_PAUSE = 0.5
"""An escape with another key close behind it is read as alt and that key."""
SHELL = ("bash", "--norc", "--noprofile", "-i")
PROGRAM = (sys.executable, "-c", "from tokenloop.cli import main; main()")

# Sequences that pyte takes for text: key protocols with a private prefix, mode queries, OSC.
_NOT_FOR_PYTE = re.compile(
    rb"\x1b\[[<>=?][0-9;]*[a-zA-Z]|\x1b\[\?[0-9;]*\$p|\x1b\][^\x07\x1b]*(\x07|\x1b\\)"
)


def _control_terminal() -> None:
    """In the child: the terminal sends its signals to this session."""
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


class EmulatedTerminal:
    """A program on a pseudo-terminal.

    Args:
        arguments: what ``tokenloop`` is called with.
        home: where its settings and its log go.
        size: columns and rows.
        shell: run a shell instead, with job control, and have it run the program.
        environment: beyond this process's own.

    Attributes:
        raw: every byte that the program sent to the terminal.
        screen: what a person would see.
    """

    def __init__(
        self,
        *arguments: str,
        home: Path,
        size: tuple[int, int] = (140, 40),
        shell: bool = False,
        **environment: str,
    ) -> None:
        columns, rows = size
        self.raw = b""
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self._master, slave = pty.openpty()
        self.resize(columns, rows, tell=False)
        self.attributes_before = termios.tcgetattr(slave)
        self._slave = slave
        clean = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("TEXTUAL", "XDG_", "TOKENLOOP")) and name != "NO_COLOR"
        }
        self.process = subprocess.Popen(
            SHELL if shell else [*PROGRAM, *arguments],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=_control_terminal if shell else None,
            env={
                **clean,
                "PS1": "$ ",
                "TERM": "xterm-256color",
                "LANG": "C.UTF-8",
                "OMP_NUM_THREADS": "1",
                "XDG_CONFIG_HOME": str(home / "config"),
                "XDG_STATE_HOME": str(home / "state"),
                **environment,
            },
        )
        if shell:
            self.wait_for("$ ")
            self.send(shlex.join([*PROGRAM, *arguments]) + "\r")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._master)
        os.close(self._slave)

    # what a person does

    def send(self, *keys: str, pause: float = 0.05) -> None:
        """Type."""
        for key in keys:
            self.send_bytes(key.encode(), pause=ESCAPE_PAUSE if key == "\x1b" else pause)

    def send_bytes(self, data: bytes, pause: float = 0.05) -> None:
        """Type what may be no text."""
        os.write(self._master, data)
        self.read(pause)

    def paste(self, text: str) -> None:
        """Paste, as a terminal with bracketed paste does: lines end with a carriage return."""
        self.send(f"\x1b[200~{text.replace(chr(10), chr(13))}\x1b[201~")

    def resize(self, columns: int, rows: int, *, tell: bool = True) -> None:
        """Change the window's size."""
        fcntl.ioctl(self._master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)
        if tell:
            self.process.send_signal(signal.SIGWINCH)

    # what a person sees

    @property
    def text(self) -> str:
        """The screen as lines."""
        return "\n".join(self.screen.display)

    def read(self, seconds: float) -> None:
        """Take in what the program sends within a time."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if not select.select([self._master], [], [], left)[0]:
                return
            try:
                data = os.read(self._master, 1 << 16)
            except OSError:  # the other side is closed
                return
            self.raw += data
            self._stream.feed(_NOT_FOR_PYTE.sub(b"", data))

    def wait_for(self, wanted: str | Callable[[str], bool]) -> str:
        """Read on until the screen holds a text; returns the screen."""
        holds = wanted if callable(wanted) else lambda text: wanted in text
        end = time.monotonic() + PATIENCE_SECONDS
        while not holds(self.text):
            if self.process.poll() is not None:
                self.read(0.2)
                if holds(self.text):
                    break
                raise AssertionError(f"it ended with {self.process.returncode}:\n{self.text}")
            if time.monotonic() > end:
                raise AssertionError(f"{wanted!r} never came:\n{self.text}")
            self.read(0.1)
        return self.text

    def wait_for_end(self) -> int:
        """Read until the program has ended; returns its exit code."""
        end = time.monotonic() + PATIENCE_SECONDS
        while self.process.poll() is None:
            if time.monotonic() > end:
                raise AssertionError(f"it did not end:\n{self.text}")
            self.read(0.1)
        self.read(0.3)
        return self.process.returncode

    # whether the terminal is as it was

    def last_mode(self, number: int) -> bool | None:
        """Whether a private mode was last set or reset; ``None`` if never touched."""
        found = re.findall(rb"\x1b\[\?([0-9;]+)([hl])", self.raw)
        states = [
            kind == b"h" for modes, kind in found if str(number).encode() in modes.split(b";")
        ]
        return states[-1] if states else None

    def assert_restored(self) -> None:
        """The alternate screen, mouse and paste modes are off, the cursor is shown, echo is on."""
        assert self.last_mode(1049) is False
        assert self.last_mode(25) is True
        for mode in (1000, 1003, 1004, 1006, 2004):
            assert not self.last_mode(mode), mode
        assert termios.tcgetattr(self._slave) == self.attributes_before
