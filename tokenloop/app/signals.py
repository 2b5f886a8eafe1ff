"""The signals that end a program, so that this one can put its terminal in order first."""

from __future__ import annotations

import signal
import sys
from types import FrameType

LEAVING = (
    *("SIGHUP", "SIGINT", "SIGQUIT", "SIGTRAP", "SIGABRT", "SIGUSR1", "SIGUSR2", "SIGALRM"),
    *("SIGTERM", "SIGSTKFLT", "SIGXCPU", "SIGVTALRM", "SIGPROF", "SIGIO", "SIGPWR", "SIGSYS"),
)
"""Those that end a process unless it catches them, and the realtime signals with them.

Not here: SIGKILL, which nobody catches; SIGSEGV, SIGBUS, SIGFPE and SIGILL, after which no code of
ours can go on (faulthandler logs them); SIGPIPE and SIGXFSZ, which Python ignores, so that the
write itself fails and says so.
"""


def leaving_signals() -> list[int]:
    """The numbers that this platform has of them; without what our parent set to be ignored."""
    numbers = {int(getattr(signal, name)) for name in LEAVING if hasattr(signal, name)}
    if hasattr(signal, "SIGRTMIN"):
        numbers |= set(range(signal.SIGRTMIN, signal.SIGRTMAX + 1))
    return sorted(number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN)


def leave_by_exception() -> None:
    """Make a signal end the program as ``sys.exit(128 + n)`` does, so that everything is put back.

    SIGINT stays what it is, a KeyboardInterrupt.
    """
    for number in leaving_signals():
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _leave)


def _leave(number: int, _frame: FrameType | None) -> None:
    sys.exit(128 + number)
