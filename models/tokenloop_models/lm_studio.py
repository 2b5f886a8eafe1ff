"""Models that LM Studio has fetched: ``PUBLISHER/REPOSITORY/FILE.gguf`` in its models folder."""

from __future__ import annotations

import os
from pathlib import Path

from tokenloop_models.errors import ModelError
from tokenloop_models.file_kinds import read_small
from tokenloop_models.gguf_split import whole_models

PREFIX = "lmstudio:"
_POINTER = ".lmstudio-home-pointer"
_MOST_POINTER_BYTES = 4096


def folders() -> list[Path]:
    """Return the folders in which LM Studio keeps models, today's first; they need not exist."""
    home = Path.home()
    chosen = _chosen_home(home / _POINTER)
    places = [chosen] if chosen is not None else []
    places += [home / ".lmstudio", home / ".cache" / "lm-studio"]
    return list(dict.fromkeys(place / "models" for place in places))


def lm_studio_models() -> list[tuple[str, Path]]:
    """List each model with its name (``lmstudio:owner/name/file.gguf``) and where it lies.

    A folder with safetensors is a model of its own (``lmstudio:owner/name``).
    """
    found: dict[str, Path] = {}
    for folder in folders():
        for path in _models_in(folder):
            found.setdefault(f"{PREFIX}{path.relative_to(folder).as_posix()}", path)
    return sorted(found.items())


def find_lm_studio_model(name: str) -> Path | None:
    """Return where a model lies that :func:`lm_studio_models` lists."""
    return dict(lm_studio_models()).get(name)


def _models_in(folder: Path) -> list[Path]:
    """List the GGUF models and the folders with safetensors below publisher and repository."""
    found = []
    for repository in _folders_in(folder, "*/*"):
        files = [path.relative_to(repository).as_posix() for path in repository.rglob("*.gguf")]
        found += [repository / name for name in whole_models(files)]
        if any(repository.glob("*.safetensors")):
            found.append(repository)
    return found


def _folders_in(folder: Path, pattern: str) -> list[Path]:
    try:
        return sorted(path for path in folder.glob(pattern) if path.is_dir())
    except OSError:
        return []


def _chosen_home(pointer: Path) -> Path | None:
    """Read where the person moved LM Studio's home folder to, where that was done."""
    try:
        said = read_small(pointer, _MOST_POINTER_BYTES).decode("utf-8").strip()
    except (ModelError, ValueError):
        return None
    path = Path(said).expanduser()
    return path if said and path.is_absolute() and os.sep in said else None
