"""Where our own models lie on this machine."""

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
