"""Writes made files where a test can open them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.models.files.making import Gguf, safetensors

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def write_gguf(tmp_path: Path) -> Callable[..., Path]:
    def write(**changes: Any) -> Path:
        path = tmp_path / "made.gguf"
        path.write_bytes(Gguf(**changes).bytes())
        return path

    return write


@pytest.fixture
def write_safetensors(tmp_path: Path) -> Callable[..., Path]:
    def write(header: Any, data: bytes = b"", name: str = "model.safetensors") -> Path:
        path = tmp_path / name
        path.write_bytes(safetensors(header, data))
        return path

    return write
