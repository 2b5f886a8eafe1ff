"""Where models lie on this machine: our own cache folder, and the hub's."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs

CACHE_VARIABLE = "TOKENLOOP_CACHE"


def cache_folder() -> Path:
    """Return the platform's cache folder for tokenloop, or what TOKENLOOP_CACHE names instead."""
    chosen = os.environ.get(CACHE_VARIABLE)
    if chosen:
        return Path(chosen).expanduser().absolute()
    return Path(platformdirs.user_cache_dir("tokenloop", appauthor=False))


def models_folder() -> Path:
    """Return the folder that holds pulled models; it need not exist yet."""
    return cache_folder() / "models"


def hub_folder() -> Path:
    """Return the folder in which huggingface_hub keeps what it fetched, whoever asked for it."""
    from huggingface_hub import constants

    return Path(constants.HF_HUB_CACHE)


def hub_snapshots(repo: str) -> list[Path]:
    """List the local snapshots of a hub repository, newest first.

    The hub's library links a file into a snapshot only when it has arrived whole, so a file that
    is there is complete; a snapshot may still lack some of its files.

    Args:
        repo: ``owner/name``.
    """
    folder = hub_folder() / f"models--{repo.replace('/', '--')}" / "snapshots"
    try:
        snapshots = [path for path in folder.iterdir() if path.is_dir()]
        return sorted(snapshots, key=lambda path: path.stat().st_mtime, reverse=True)
    except OSError:
        return []
