"""How keys and pastes come in from a terminal, beyond what Textual's own driver does.

Three things differ. An ESC inside a bracketed paste stays inside it: Textual would take it for the
beginning of a key and play what follows as keys, before the paste. Bytes that are no UTF-8 become
U+FFFD instead of ending the program. What is typed while the program is stopped is not for it.
"""

from __future__ import annotations

import codecs
import os
import selectors
import sys
from typing import TYPE_CHECKING

from textual import constants
from textual._xterm_parser import XTermParser

if TYPE_CHECKING:
    from collections.abc import Iterable

    from textual.driver import Driver
    from textual.message import Message

PASTE_BEGINS, PASTE_ENDS = "\x1b[200~", "\x1b[201~"
SUBSTITUTE = "\x1a"
"""ASCII's own stand-in for a character that may not pass; a paste leaves it out later."""

CHUNK_BYTES = 4096
PATIENCE_SECONDS = 0.1


class PasteParser(XTermParser):
    """Textual's parser, told nothing of the ESCs inside a paste."""

    def __init__(self, debug: bool = False) -> None:
        super().__init__(debug)
        self._pasting = False
        self._seen = ""  # the end of what was passed on, which may begin a paste
        self._held = ""  # the end of a chunk inside a paste, which may end it

    def feed(self, data: str) -> Iterable[Message]:
        """Parse the next chunk; an empty one is the end."""
        shielded = self._shielded(data)
        return super().feed(shielded) if shielded or not data else ()

    def _shielded(self, data: str) -> str:
        parts: list[str] = []
        data, self._held = self._held + data, ""
        while data:
            take = self._inside if self._pasting else self._outside
            part, data = take(data)
            parts.append(part)
        return "".join(parts)

    def _outside(self, data: str) -> tuple[str, str]:
        """What comes before the paste, its beginning included, and the rest."""
        seen = self._seen + data
        at = seen.find(PASTE_BEGINS)
        if at < 0:
            self._seen = seen[1 - len(PASTE_BEGINS) :]
            return data, ""
        self._pasting, new = True, at + len(PASTE_BEGINS) - len(self._seen)
        self._seen = ""
        return data[:new], data[new:]

    def _inside(self, data: str) -> tuple[str, str]:
        """The paste, its end included, without ESC; and the rest."""
        pasted, end, rest = data.partition(PASTE_ENDS)
        if end:
            self._pasting = False
        else:
            half = next(
                (n for n in range(len(PASTE_ENDS) - 1, 0, -1) if data.endswith(PASTE_ENDS[:n])), 0
            )
            cut = len(data) - half
            pasted, self._held = data[:cut], data[cut:]
        return pasted.replace("\x1b", SUBSTITUTE) + end, rest


def driver_class() -> type[Driver] | None:
    """The driver for this platform; ``None`` leaves the choice to Textual."""
    if sys.platform == "win32" or constants.DRIVER is not None:
        return None
    import termios

    from textual.drivers.linux_driver import LinuxDriver

    class TerminalDriver(LinuxDriver):
        """Textual's driver for terminals with the parser above."""

        def run_input_thread(self) -> None:
            """Read until the program ends or the terminal is gone."""
            parser = PasteParser(self._debug)
            decode = codecs.getincrementaldecoder("utf-8")(errors="replace").decode
            with selectors.SelectSelector() as selector:
                selector.register(self.fileno, selectors.EVENT_READ)
                while not self.exit_event.is_set():
                    if selector.select(PATIENCE_SECONDS):
                        read = _read(self.fileno)
                        if not read:
                            return
                        if data := decode(read):
                            self._send(parser.feed(data))
                    self._send(parser.tick())

        def _send(self, messages: Iterable[Message]) -> None:
            for message in messages:
                self.process_message(message)

        def resume_application_mode(self) -> None:
            """Come back, without what was typed for somebody else."""
            if _in_front(self.fileno):
                termios.tcflush(self.fileno, termios.TCIFLUSH)
            super().resume_application_mode()

    return TerminalDriver


def shell_waits() -> bool:
    """Whether a shell with job control started this program and will have the terminal back."""
    return sys.platform != "win32" and os.getpgrp() != os.getsid(0)


def _in_front(terminal: int) -> bool:
    """Whether touching a terminal is ours to do: from the background, it would stop us again."""
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:  # it is not this session's, so no shell has a say
        return True


def _read(descriptor: int) -> bytes:
    """What is there; nothing where the terminal is gone."""
    try:
        return os.read(descriptor, CHUNK_BYTES)
    except OSError:
        return b""
