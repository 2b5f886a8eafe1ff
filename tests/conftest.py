"""Fixtures that every package's tests may use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.tiny_model import TinySpec, write_folder

if TYPE_CHECKING:
    from pathlib import Path

    from tokenloop_models.model import Model


@pytest.fixture(scope="session")
def tiny_model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny random Llama with grouped-query attention and 299 tokens."""
    return write_folder(TinySpec(), tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def tiny_model(tiny_model_folder: Path) -> Model:
    """That model, loaded; it keeps no state, so that every test may share it."""
    from tokenloop_models import load

    return load(tiny_model_folder, device="cpu", dtype="float32")
