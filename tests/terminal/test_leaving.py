"""The program leaves its terminal as it found it, whatever ends it."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from tests.terminal.emulated import EmulatedTerminal

if TYPE_CHECKING:
    from pathlib import Path

ENDINGS = [signal.SIGQUIT, signal.SIGABRT, signal.SIGUSR1, signal.SIGALRM]
"""Some of the table, which tests/app/test_signals.py compares with the platform's."""


@pytest.mark.parametrize("number", ENDINGS)
def test_any_signal_restores_the_terminal(
    tiny_model_folder: Path, tmp_path: Path, number: signal.Signals
) -> None:
    with EmulatedTerminal(str(tiny_model_folder), home=tmp_path) as terminal:
        terminal.wait_for("tokenloop")
        assert terminal.last_mode(1049) is True
        terminal.process.send_signal(number)
        assert terminal.wait_for_end() == 128 + number
        terminal.assert_restored()
        assert "Traceback" not in terminal.text


def test_a_log_that_is_a_pipe_is_not_waited_for(tiny_model_folder: Path, tmp_path: Path) -> None:
    log = tmp_path / "state" / "tokenloop" / "log" / "tokenloop.log"
    log.parent.mkdir(parents=True)
    os.mkfifo(log)
    with EmulatedTerminal(str(tiny_model_folder), home=tmp_path) as terminal:
        terminal.wait_for("● ready")
        terminal.send("\x11")
        assert terminal.wait_for_end() == 0
        terminal.assert_restored()
