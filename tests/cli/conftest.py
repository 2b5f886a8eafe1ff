"""The command line in this process, with nothing of the person's own settings in it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tokenloop.cli.program import run_program


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    out: str
    err: str


Cli = Callable[..., Ended]


@pytest.fixture(autouse=True)
def settings_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty config folder of this test's own; returns where settings.toml would lie."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    folder = tmp_path / "config" / "tokenloop"
    folder.mkdir(parents=True)
    return folder


@pytest.fixture(autouse=True)
def no_other_stores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of LM Studio's or Ollama's, whatever this machine has."""
    monkeypatch.setenv("OLLAMA_MODELS", str(tmp_path / "ollama"))
    monkeypatch.setattr("tokenloop_models.lm_studio.folders", lambda: [tmp_path / "lm-studio"])


@pytest.fixture
def cli(capfd: pytest.CaptureFixture[str]) -> Cli:
    """Run the command line and give its code and what it printed."""

    def call(*arguments: str) -> Ended:
        code = run_program(arguments)
        sys.stdout.flush()
        printed = capfd.readouterr()
        return Ended(code, printed.out, printed.err)

    return call


def start(*arguments: str, **environment: str) -> subprocess.Popen[str]:
    """Start the program as a process of its own, with pipes and no terminal."""
    return subprocess.Popen(
        [sys.executable, "-c", "from tokenloop.cli import main; main()", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding=environment.get("PYTHONIOENCODING", "utf-8"),
        env={**os.environ, **environment},
    )
