"""The models that lie on this machine, whoever fetched them: what a list or a picker shows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from tokenloop_models import hub_cache
from tokenloop_models.catalogue import CATALOGUE, Entry
from tokenloop_models.describe import LocalModel, describe, weights_size
from tokenloop_models.errors import ModelError
from tokenloop_models.finding import on_this_machine
from tokenloop_models.gguf_split import whole_models
from tokenloop_models.hub_id import HubId
from tokenloop_models.lm_studio import lm_studio_models
from tokenloop_models.ollama import ollama_models
from tokenloop_models.places import models_folder

__all__ = ["LocalModel", "look_around", "models_on_this_machine"]


def models_on_this_machine() -> list[LocalModel]:
    """List what is here: the catalogue's, our cache folder's, the hub's, LM Studio's, Ollama's.

    What can't be run has its problem; what can't be read is left out (:func:`look_around` has it),
    and so is a second way to the same file. Nothing is fetched and no weights are read.
    """
    return look_around()[0]


def look_around() -> tuple[list[LocalModel], list[str]]:
    """List the models, and say what is wrong with files of our cache folder that can't be read."""
    models = [
        _pulled(entry, path) for entry in CATALOGUE.values() if (path := on_this_machine(entry))
    ]
    problems: list[str] = []
    taken = {model.path.resolve() for model in models}
    for ours, found in ((True, _in_cache_folder()), (False, _elsewhere())):
        for name, path in found:
            if path.resolve() in taken:
                continue
            taken.add(path.resolve())
            try:
                models.append(_described(path, name))
            except ModelError as error:
                problems += [str(error)] if ours else []
            except OSError:
                continue
    return models, problems


def _pulled(entry: Entry, path: Path) -> LocalModel:
    return LocalModel(
        name=entry.name,
        title=entry.title,
        path=path,
        size=weights_size(path),
        family=entry.family,
        quantisation=entry.quantisation if path.is_file() else None,
        context_length=entry.context_length,
    )


def _described(path: Path, name: str) -> LocalModel:
    model = describe(path, name)
    if path.parent.name == "snapshots" and model.problem is None and not hub_cache.is_whole(path):
        missing = f"not all of its files are here: tokenloop pull {name}"
        return replace(model, problem=missing)
    return model


def _elsewhere() -> Iterator[tuple[str, Path]]:
    yield from _in_hub_folder()
    yield from lm_studio_models()
    yield from ollama_models()


def _in_cache_folder() -> Iterator[tuple[str, Path]]:
    there = [path for path in _listed(models_folder()) if not path.name.startswith(".")]
    ggufs = set(whole_models(path.name for path in there if path.is_file()))
    for path in there:
        if path.name in ggufs or _holds_safetensors(path):
            yield str(path), path


def _in_hub_folder() -> Iterator[tuple[str, Path]]:
    for repo in hub_cache.repos():
        for revision, snapshot in hub_cache.revisions(repo):
            if _holds_safetensors(snapshot):
                yield str(HubId(repo, revision)), snapshot
            for name in hub_cache.ggufs_in(snapshot):
                yield str(HubId(repo, revision, name)), snapshot / name


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _holds_safetensors(folder: Path) -> bool:
    return any(path.suffix == ".safetensors" for path in _listed(folder))
