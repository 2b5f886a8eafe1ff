"""The program leaves its terminal as it found it, whatever ends it."""

from __future__ import annotations

import os
import shutil
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


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs a shell with job control")
def test_ctrl_z_gives_the_terminal_to_the_shell_and_fg_brings_the_screen_back(
    tiny_model_folder: Path, tmp_path: Path
) -> None:
    with EmulatedTerminal(str(tiny_model_folder), home=tmp_path, shell=True) as terminal:
        terminal.wait_for("● ready")
        terminal.send("\r")
        terminal.wait_for("space makes it fact")
        terminal.send("\x1a")
        terminal.wait_for("Stopped")
        for mode in (1049, 1000, 1003, 1004, 1006):
            assert not terminal.last_mode(mode), mode
        terminal.send("echo la$((6*7))lar\r")
        terminal.wait_for("la42lar")
        terminal.screen.reset()
        terminal.send("fg\r")
        terminal.wait_for("space makes it fact")
        terminal.wait_for("KV cache")
        assert terminal.last_mode(1049) is True
        assert "+ 0 written" in terminal.text
        terminal.send(" ")
        terminal.wait_for("+ 1 written")
        terminal.send("q")
        terminal.wait_for(lambda _: terminal.last_mode(1049) is False)
        assert "Traceback" not in terminal.text


def test_ctrl_z_without_a_shell_says_so_and_goes_on(
    tiny_model_folder: Path, tmp_path: Path
) -> None:
    with EmulatedTerminal(str(tiny_model_folder), home=tmp_path) as terminal:
        terminal.wait_for("● ready")
        terminal.send("\r")
        terminal.wait_for("space makes it fact")
        terminal.send("\x1a")
        terminal.wait_for("no shell waits")
        terminal.send(" ")
        terminal.wait_for("+ 1 written")


def test_what_is_typed_while_stopped_is_no_command_afterwards(
    tiny_model_folder: Path, tmp_path: Path
) -> None:
    with EmulatedTerminal(str(tiny_model_folder), home=tmp_path) as terminal:
        terminal.wait_for("● ready")
        terminal.send("\r")
        terminal.wait_for("space makes it fact")
        terminal.process.send_signal(signal.SIGTSTP)
        terminal.wait_for(lambda _: terminal.last_mode(1049) is False)
        terminal.read(0.3)
        terminal.send("  la")
        terminal.screen.reset()
        terminal.process.send_signal(signal.SIGCONT)
        terminal.wait_for(lambda _: terminal.last_mode(1049) is True)
        terminal.wait_for("space makes it fact")
        terminal.read(1.0)
        assert "+ 0 written" in terminal.text
        terminal.send("\x11")
        assert terminal.wait_for_end() == 0
