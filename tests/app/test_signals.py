"""The table of signals, against what the platform has."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

from tokenloop.app.signals import LEAVING, leave_by_exception, leaving_signals

NOBODYS = {"SIGKILL", "SIGSTOP"}
FAULTS = {"SIGSEGV", "SIGBUS", "SIGFPE", "SIGILL"}
HARMLESS = {"SIGCHLD", "SIGCONT", "SIGURG", "SIGWINCH", "SIGTSTP", "SIGTTIN", "SIGTTOU"}
PYTHON_IGNORES = {"SIGPIPE", "SIGXFSZ"}


@pytest.mark.skipif(sys.platform != "linux", reason="the table of this platform")
def test_every_signal_that_ends_a_process_is_in_the_table() -> None:
    others = {number.name for number in signal.Signals} - NOBODYS - FAULTS - HARMLESS
    assert others - PYTHON_IGNORES - {"SIGRTMIN", "SIGRTMAX"} == set(LEAVING)
    assert {int(signal.SIGRTMIN), int(signal.SIGRTMAX)} <= set(leaving_signals())


def test_what_the_parent_ignores_stays_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    assert signal.SIGHUP in leaving_signals()
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)  # as nohup does
    try:
        assert signal.SIGHUP not in leaving_signals()
    finally:
        signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_a_signal_undoes_what_was_begun_and_exits_with_its_number(number: signal.Signals) -> None:
    code = (
        "import os, time\n"
        "from tokenloop.app.signals import leave_by_exception\n"
        "leave_by_exception()\n"
        "try:\n"
        f"    os.kill(os.getpid(), {int(number)})\n"
        "    time.sleep(60)\n"
        "finally:\n"
        "    print('put back')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (128 + number, "put back\n", "")


def test_an_interrupt_stays_a_keyboard_interrupt() -> None:
    before = {number: signal.getsignal(number) for number in leaving_signals()}
    try:
        leave_by_exception()
        assert signal.getsignal(signal.SIGINT) is before[signal.SIGINT]
        assert signal.getsignal(signal.SIGTERM) is not before[signal.SIGTERM]
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
