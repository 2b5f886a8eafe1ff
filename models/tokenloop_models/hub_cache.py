"""What huggingface_hub has fetched to this machine, whoever asked for it.

Its cache is laid out as published: ``models--OWNER--NAME`` holds ``blobs`` (the files, by hash),
``refs/REVISION`` (the commit that a branch was at) and ``snapshots/COMMIT`` (links to blobs, by
name). The library links a file into a snapshot only when it has arrived whole; a snapshot may still
lack some of its files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from tokenloop_models.errors import ModelError
from tokenloop_models.file_kinds import read_small
from tokenloop_models.gguf_split import part_names, whole_models
from tokenloop_models.hub_files import CONFIG, INDEX, SINGLE, TOKENIZERS
from tokenloop_models.hub_id import HubId

MAIN = "main"
_MOST_INDEX_BYTES = 16 << 20
_MOST_REF_BYTES = 1 << 10


def hub_folder() -> Path:
    """Return the folder of the library's cache; it need not exist."""
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE)


def repo_folder(repo: str) -> Path:
    """Return where the cache keeps a repository (``owner/name``); it need not exist."""
    return hub_folder() / f"models--{repo.replace('/', '--')}"


def repos() -> list[str]:
    """List the repositories of models in the cache, by name."""
    names = [folder.name for folder in _listed(hub_folder())]
    return [
        name.removeprefix("models--").replace("--", "/", 1)
        for name in names
        if name.startswith("models--") and name.count("--") > 1
    ]


def find(wanted: HubId) -> Path | None:
    """Return where a model lies: its snapshot, or its file; ``None`` where not all of it is here.

    Of a repository without a revision the main branch comes first, then what arrived last. One
    that has no safetensors here, but one GGUF, is that GGUF.
    """
    for snapshot in snapshots(wanted.repo, wanted.revision):
        if wanted.file is not None:
            if has_parts(snapshot / wanted.file):
                return snapshot / wanted.file
        elif is_whole(snapshot):
            return snapshot
        elif len(found := ggufs_in(snapshot)) == 1:
            return snapshot / found[0]
    return None


def snapshots(repo: str, revision: str | None = None) -> list[Path]:
    """List the snapshots of a repository that a revision may mean, the best first.

    Args:
        repo: ``owner/name``.
        revision: a branch, tag or commit, which means exactly one; ``None``: the main branch's,
            then all others, the newest first.
    """
    folder = repo_folder(repo)
    named = _at(folder, revision or MAIN)
    if revision is not None:
        return named
    others = [path for path in _listed(folder / "snapshots") if path not in named]
    return named + sorted(others, key=_age)


def revisions(repo: str) -> Iterator[tuple[str | None, Path]]:
    """Yield the snapshots of a repository with the revision that names each.

    ``None`` is the one that the repository's name alone means; then come other branches and tags.
    """
    best = snapshots(repo)[:1]
    yield from ((None, path) for path in best)
    seen = set(best)
    refs = repo_folder(repo) / "refs"
    for ref in sorted(path for path in refs.rglob("*") if path.is_file()):
        name = ref.relative_to(refs).as_posix()
        for path in _at(repo_folder(repo), name):
            if path not in seen:
                seen.add(path)
                yield name, path


def ggufs_in(snapshot: Path) -> list[str]:
    """List the GGUF models of a snapshot by their names in the repository, split ones once."""
    return [
        name
        for name in whole_models(
            [path.relative_to(snapshot).as_posix() for path in snapshot.rglob("*.gguf")]
        )
        if has_parts(snapshot / name)
    ]


def is_whole(snapshot: Path) -> bool:
    """Say whether a snapshot has all that a safetensors model needs."""
    weights = [snapshot / SINGLE]
    if not weights[0].is_file():
        weights = [snapshot / name for name in _shards(snapshot / INDEX)]
    tokenizer = any(all((snapshot / name).is_file() for name in files) for files in TOKENIZERS)
    needed = [snapshot / CONFIG, *weights]
    return bool(weights) and tokenizer and all(path.is_file() for path in needed)


def has_parts(file: Path) -> bool:
    """Say whether a GGUF is there, with all its parts where it was split."""
    return all(file.with_name(name).is_file() for name in part_names(file.name))


def _shards(index: Path) -> list[str]:
    try:
        shard_of = json.loads(read_small(index, _MOST_INDEX_BYTES))["weight_map"]
        return sorted({name for name in shard_of.values() if isinstance(name, str)})
    except (ModelError, ValueError, LookupError, AttributeError, TypeError, RecursionError):
        return []


def _at(folder: Path, revision: str) -> list[Path]:
    """Return the snapshot that a branch, a tag or a commit names, if it is here."""
    try:
        ref = folder / "refs" / revision
        commit = read_small(ref, _MOST_REF_BYTES).decode("utf-8").strip()
    except (ModelError, ValueError):
        commit = revision
    snapshot = folder / "snapshots" / commit
    return [snapshot] if commit and "/" not in commit and snapshot.is_dir() else []


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _age(snapshot: Path) -> float:
    try:
        return -snapshot.stat().st_mtime
    except OSError:
        return 0.0
