"""Which files of a hub repository a model needs: those, and no code, are fetched."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Collection, Mapping
from typing import Any

from tokenloop_models.errors import ModelError, quoted
from tokenloop_models.gguf_split import part_names, whole_models
from tokenloop_models.hub_id import HubId

CONFIG = "config.json"
SINGLE = "model.safetensors"
INDEX = "model.safetensors.index.json"
TOKENIZERS = (("tokenizer.json",), ("vocab.json", "merges.txt"))
"""Any of these is enough; the first that is there is read."""

OPTIONAL = ("generation_config.json", "tokenizer_config.json")
PICKLES = (".bin", ".pt", ".pth")


def needed_files(
    wanted: HubId, names: Collection[str], read_index: Callable[[], Mapping[str, Any]]
) -> list[str]:
    """List the files to fetch.

    Args:
        wanted: the model.
        names: of all files in the repository.
        read_index: reads the repository's ``model.safetensors.index.json``.

    Raises:
        ModelError: the repository has no such file, or nothing that can be run.
    """
    if wanted.file is not None:
        return _parts_of(wanted, wanted.file, names)
    if INDEX in names and SINGLE not in names:
        return [*_texts(wanted, names), INDEX, *_shards(wanted, names, read_index())]
    if SINGLE in names:
        return [*_texts(wanted, names), SINGLE]
    return _parts_of(wanted, _only_gguf(wanted, names), names)


def _texts(wanted: HubId, names: Collection[str]) -> list[str]:
    if CONFIG not in names:
        raise ModelError(f"{wanted}: the repository has no {CONFIG}")
    tokenizer = next((files for files in TOKENIZERS if set(files) <= set(names)), None)
    if tokenizer is None:
        raise ModelError(f"{wanted}: the repository has no {TOKENIZERS[0][0]}")
    return [CONFIG, *tokenizer, *(name for name in OPTIONAL if name in names)]


def _shards(wanted: HubId, names: Collection[str], index: Mapping[str, Any]) -> list[str]:
    shard_of = index.get("weight_map")
    shards = sorted(set(shard_of.values())) if isinstance(shard_of, dict) else []
    missing = [name for name in shards if name not in names]
    if not shards or missing:
        what = f"{quoted(missing[0])} is not in the repository" if missing else "it names no file"
        raise ModelError(f"{wanted}: {INDEX}: {what}")
    return shards


def _only_gguf(wanted: HubId, names: Collection[str]) -> str:
    """Return the GGUF of a repository that has no safetensors, where there is only one."""
    models = whole_models(names)
    if len(models) == 1:
        return models[0]
    if models:
        some = ", ".join(models[:8]) + (", …" if len(models) > 8 else "")
        problem = f"holds {len(models)} GGUF models; name one, as in {wanted}:{models[0]}"
        raise ModelError(f"{wanted}: {problem} ({some})")
    if "adapter_config.json" in names:
        raise ModelError(f"{wanted}: holds an adapter, not a whole model")
    if any(name.endswith(PICKLES) for name in names):
        problem = "holds PyTorch pickles only, which can run code and are never fetched"
        hint = f"a pull request there may hold safetensors, as {wanted.repo}@refs/pr/1"
        raise ModelError(f"{wanted}: {problem}; {hint}")
    raise ModelError(f"{wanted}: holds no model.safetensors and no .gguf")


def _parts_of(wanted: HubId, file: str, names: Collection[str]) -> list[str]:
    folder, slash, name = file.rpartition("/")
    parts = [f"{folder}{slash}{part}" for part in part_names(name)]
    missing = [part for part in parts if part not in names]
    if not missing and parts:
        return parts
    if file in names:
        raise ModelError(f"{wanted}: {quoted(missing[0])} is not in the repository")
    models = whole_models(names)
    near = difflib.get_close_matches(file, models, n=1, cutoff=0.0)
    hint = f"did you mean {near[0]}?" if near else "it has no .gguf"
    raise ModelError(f"{wanted}: the repository has no {quoted(file)}; {hint}")
