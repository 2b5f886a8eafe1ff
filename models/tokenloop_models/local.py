"""The models that lie on this machine: what a list or a picker shows, read without torch."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenloop_models.catalogue import CATALOGUE, Entry
from tokenloop_models.errors import ModelError
from tokenloop_models.fetch import on_this_machine
from tokenloop_models.file_kinds import read_small, shown
from tokenloop_models.gguf_header import read_header
from tokenloop_models.places import hub_folder, hub_snapshots, models_folder

_MOST_CONFIG_BYTES = 1 << 20


@dataclass(frozen=True)
class LocalModel:
    """A model that could be opened now.

    Attributes:
        name: what a person types to open it: a catalogue name, a hub id or a path.
        title: what to call it.
        path: the file or folder.
        size: of its weights, in bytes.
        family: the architecture that its file names.
        quantisation: of the file, ``None`` for plain floats.
        context_length: in tokens, ``None`` where the file doesn't say.
    """

    name: str
    title: str
    path: Path
    size: int
    family: str
    quantisation: str | None
    context_length: int | None


def models_on_this_machine() -> list[LocalModel]:
    """List what is here: the catalogue's models, our cache folder's, and the hub library's.

    What can't be read is left out (:func:`broken_models` has it), and of the hub's folders so is
    what holds no safetensors. Nothing is fetched and no weights are read.
    """
    models = [
        _pulled(entry, path) for entry in CATALOGUE.values() if (path := on_this_machine(entry))
    ]
    taken = {model.path for model in models}
    for path in _in_cache_folder():
        if path not in taken:
            models += _readable(path, str(path))
    for repo, folder in _in_hub_folder():
        if folder not in taken:
            models += _readable(folder, repo)
    return models


def broken_models() -> list[str]:
    """Say, one line each, what is wrong with files of our cache folder that can't be read."""
    problems: list[str] = []
    for path in _in_cache_folder():
        try:
            describe(path, str(path))
        except ModelError as error:
            problems.append(str(error))
    return problems


def describe(path: Path, name: str) -> LocalModel:
    """Read from a model's header or ``config.json`` what a list shows of it.

    Args:
        path: a ``.gguf`` file or a folder with safetensors.
        name: what a person types for it.

    Raises:
        ModelError: the file can't be read or doesn't say what it is.
    """
    return _describe_folder(path, name) if path.is_dir() else _describe_gguf(path, name)


def _pulled(entry: Entry, path: Path) -> LocalModel:
    return LocalModel(
        name=entry.name,
        title=entry.title,
        path=path,
        size=_weights_size(path),
        family=entry.family,
        quantisation=entry.quantisation if path.is_file() else None,
        context_length=entry.context_length,
    )


def _describe_gguf(path: Path, name: str) -> LocalModel:
    header = read_header(path)
    family = header.metadata.get("general.architecture")
    if not isinstance(family, str):
        raise ModelError(f"{shown(path)}: general.architecture: is missing")
    title = header.metadata.get("general.name")
    return LocalModel(
        name=name,
        title=title if isinstance(title, str) else path.stem,
        path=path,
        size=header.file_bytes,
        family=family,
        quantisation=header.quantisation,
        context_length=_whole(header.metadata.get(f"{family}.context_length")),
    )


def _describe_folder(folder: Path, name: str) -> LocalModel:
    config = _read_config(folder / "config.json")
    family = config.get("model_type")
    if not isinstance(family, str):
        raise ModelError(f"{shown(folder / 'config.json')}: model_type: is missing")
    return LocalModel(
        name=name,
        title=name if name.count("/") == 1 else folder.name,
        path=folder,
        size=_weights_size(folder),
        family=family,
        quantisation=None,
        context_length=_whole(config.get("max_position_embeddings")),
    )


def _read_config(path: Path) -> dict[str, Any]:
    try:
        config = json.loads(read_small(path, _MOST_CONFIG_BYTES))
    except (ValueError, RecursionError):
        config = None
    if not isinstance(config, dict):
        raise ModelError(f"{shown(path)}: is no JSON object")
    return config


def _readable(path: Path, name: str) -> list[LocalModel]:
    try:
        return [describe(path, name)]
    except ModelError:
        return []


def _in_cache_folder() -> Iterator[Path]:
    for path in _listed(models_folder()):
        if path.name.startswith("."):
            continue
        if (path.suffix == ".gguf" and path.is_file()) or _holds_safetensors(path):
            yield path


def _in_hub_folder() -> Iterator[tuple[str, Path]]:
    for folder in _listed(hub_folder()):
        kind, _, repo = folder.name.partition("--")
        repo = repo.replace("--", "/")
        if kind == "models":
            for snapshot in hub_snapshots(repo)[:1]:
                if _holds_safetensors(snapshot):
                    yield repo, snapshot


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _holds_safetensors(folder: Path) -> bool:
    return any(path.suffix == ".safetensors" for path in _listed(folder))


def _weights_size(path: Path) -> int:
    files = [path] if path.is_file() else list(path.glob("*.safetensors"))
    return sum(file.stat().st_size for file in files if file.is_file())


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
