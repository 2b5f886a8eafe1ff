"""Tests of a real CUDA device; on a machine without one they are skipped, and say so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch

from tests.tiny_model import TinySpec, write_folder
from tokenloop_models import cache as caches
from tokenloop_models import load

if TYPE_CHECKING:
    from pathlib import Path

    from tokenloop_models.model import Model


@pytest.fixture(autouse=True, scope="session")
def device() -> torch.device:
    """A CUDA device."""
    if not torch.cuda.is_available():
        pytest.skip("needs a CUDA device: torch sees none")
    return torch.device("cuda", 0)


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows of 16, 32, … positions, so that short texts cross their borders."""
    monkeypatch.setattr(caches, "BLOCK", 16)


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny Llama whose context is no whole number of windows."""
    return write_folder(TinySpec(context=100), tmp_path_factory.mktemp("cuda") / "tiny")


@pytest.fixture
def model(folder: Path) -> Model:
    """It on the device, in float32."""
    return load(folder, device="cuda", dtype="float32")


@pytest.fixture(scope="session")
def on_cpu(folder: Path) -> Model:
    """It on the CPU."""
    return load(folder, device="cpu", dtype="float32")
