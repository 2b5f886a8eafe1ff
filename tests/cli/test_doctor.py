"""``tokenloop doctor``: it names what is broken and how to mend it, and only then fails."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tests.tiny_model import TinySpec, write_folder, write_gguf
from tokenloop.cli import checks
from tokenloop_models.catalogue import CATALOGUE


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache folder with one tiny model of the person's own; nothing of the catalogue."""
    monkeypatch.setenv("TOKENLOOP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    folder = tmp_path / "cache" / "models"
    write_gguf(TinySpec(), folder / "tiny.gguf")
    return folder


def test_a_sound_machine_passes_and_every_part_has_its_line(cli: Cli, cache: Path) -> None:
    ended = cli("doctor")
    assert ended.code == 0
    parts = (
        "python",
        "torch",
        "precision",
        "devices",
        "textual",
        "grammars",
        "terminal",
        "cache",
        "pip",
    )
    for part in (*parts, "model"):
        assert part in ended.out
    assert "threads" in ended.out
    assert str(cache) in ended.out


@pytest.fixture
def only_models(monkeypatch: pytest.MonkeyPatch) -> None:
    """The doctor looks at models alone: torch takes seconds to look at."""
    monkeypatch.setattr(checks, "CHECKS", (checks.check_models,))


@pytest.mark.usefixtures("only_models")
def test_no_model_at_all_is_wrong_and_the_remedy_is_a_pull(cli: Cli, cache: Path) -> None:
    (cache / "tiny.gguf").unlink()
    ended = cli("doctor")
    assert ended.code == 1
    assert "smollm2 is not here" in ended.out
    assert "→ tokenloop pull smollm2" in ended.out


@pytest.mark.usefixtures("only_models")
def test_a_damaged_model_is_found(cli: Cli, cache: Path) -> None:
    entry = CATALOGUE["smollm2"]
    with (cache / entry.file).open("wb") as file:
        file.truncate(entry.size)  # the right size, all zeros
    ended = cli("doctor")
    assert ended.code == 1
    assert "smollm2 is damaged" in ended.out
    assert "→ tokenloop pull smollm2" in ended.out


def test_a_file_that_is_no_model_is_named(cache: Path) -> None:
    (cache / "notes.gguf").write_bytes(b"not a model")
    found = [finding.text for finding in checks.check_models() if finding.state == "note"]
    assert any("notes.gguf" in text for text in found)


def test_a_torch_that_does_not_import_is_wrong(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "torch.py").write_text("raise ImportError('libtorch.so: no such file')")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    [finding] = checks.check_torch()
    assert finding.state == "wrong"
    assert "libtorch.so: no such file" in finding.text
    assert finding.remedy.endswith("pip install --force-reinstall torch")


def test_a_torch_that_ends_its_process_is_wrong(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "torch.py").write_text("import os; os.abort()")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    [finding] = checks.check_torch()
    assert finding.state == "wrong"


def test_a_broken_settings_file_is_wrong(settings_folder: Path) -> None:
    (settings_folder / "settings.toml").write_text("sed = 1\n")
    [finding] = checks.check_settings()
    assert finding.state == "wrong"
    assert "settings.toml: sed" in finding.text


def test_a_cache_folder_that_cannot_be_written_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("TOKENLOOP_CACHE", str(tmp_path / "file"))
    [finding] = checks.check_cache()
    assert finding.state == "wrong"
    assert "TOKENLOOP_CACHE" in finding.remedy


@pytest.mark.parametrize(
    ("environment", "size", "state", "what"),
    [
        ({"TERM": "dumb"}, (140, 40), "wrong", "terminal"),
        ({"TERM": "xterm-256color"}, (60, 20), "note", "terminal"),
        ({"TERM": "xterm-256color"}, (140, 40), "good", "terminal"),
        ({"NO_COLOR": "1"}, (140, 40), "note", "colours"),
        ({"COLORTERM": "truecolor"}, (140, 40), "good", "colours"),
        ({"COLORTERM": ""}, (140, 40), "note", "colours"),
    ],
)
def test_the_terminal_is_judged_by_what_the_app_needs(
    monkeypatch: pytest.MonkeyPatch,
    environment: dict[str, str],
    size: tuple[int, int],
    state: str,
    what: str,
) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(checks.shutil, "get_terminal_size", lambda: os.terminal_size(size))
    [finding] = [finding for finding in checks.check_terminal() if finding.what == what]
    assert finding.state == state


def test_an_encoding_without_the_glyphs_is_wrong() -> None:
    code = (
        "from tokenloop.cli.checks import check_terminal\n"
        "print([f.state for f in check_terminal() if f.what == 'characters'])"
    )
    done: Any = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "['wrong']\n"


def test_a_missing_package_names_its_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks, "PACKAGES", ("rich", "no-such-package-here"))
    [finding] = checks.check_packages()
    assert finding.state == "wrong"
    assert finding.remedy.endswith("pip install no-such-package-here")


def test_the_extra_for_grammars_has_its_version() -> None:
    pytest.importorskip("llguidance")
    [finding] = checks.check_grammars()
    assert finding == checks.Finding("good", "grammars", f"llguidance {version('llguidance')}")


def test_without_the_extra_for_grammars_the_doctor_says_how_to_get_it(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> str:
        raise PackageNotFoundError(name)

    monkeypatch.setattr(checks, "version", missing)
    monkeypatch.setattr(checks, "CHECKS", (checks.check_grammars,))
    ended = cli("doctor")
    assert ended.code == 0
    assert "constrained decoding needs pip install 'tokenloop[grammar]'" in ended.out


def test_a_model_that_cannot_be_opened_is_noted_with_the_reason(
    cache: Path, tmp_path: Path
) -> None:
    (cache / "tiny.gguf").unlink()
    write_folder(TinySpec(layers=1), cache / "odd", changes={"model_type": "mamba"})
    missing, odd = checks.check_models()
    assert missing.state == "wrong", "nothing here can be run"
    assert odd.state == "note"
    assert odd.text.endswith(": model_type: 'mamba' is not supported")
