"""A checkpoint in one GGUF file."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal

from tokenloop_models.checkpoint import Checkpoint, fingerprint, read_bytes
from tokenloop_models.errors import ModelError, quoted
from tokenloop_models.file_kinds import shown
from tokenloop_models.gguf_header import GgufHeader, read_header

if TYPE_CHECKING:
    from pathlib import Path

    import torch


class GgufCheckpoint(Checkpoint):
    """A model in one GGUF file; see :class:`Checkpoint`.

    Attributes:
        header: everything the file says before its data.
    """

    format: Literal["gguf", "safetensors"] = "gguf"

    def __init__(self, path: Path) -> None:
        """Read the header.

        Raises:
            ModelError: the file is damaged, or is a GGUF but not a whole model.
        """
        self.path = path
        self.header: GgufHeader = read_header(path)
        self.config = self.header.metadata
        self._refuse_parts()
        self.architecture = self._architecture()
        self.quantisation = self.header.quantisation

    @cached_property
    def fingerprint(self) -> str:
        """Identify the weights."""
        return fingerprint([(self.path, self.header.nbytes)])

    def names(self) -> frozenset[str]:
        """Return the names of all tensors."""
        return frozenset(self.header.tensors)

    def shape(self, name: str) -> tuple[int, ...]:
        """Return a tensor's shape in torch's order."""
        if name not in self.header.tensors:
            raise self.missing(name)
        return self.header.tensors[name].shape

    def tensor(self, name: str, dtype: torch.dtype | None = None) -> torch.Tensor:
        """Read and dequantise a tensor."""
        import torch

        from tokenloop_models.dequantise import can_dequantise, dequantise

        if name not in self.header.tensors:
            raise self.missing(name)
        info = self.header.tensors[name]
        if not can_dequantise(info.type):
            problem = f"tensor {quoted(name)}: type {info.type.name} can't be dequantised"
            raise ModelError(f"{shown(self.path)}: {problem}")
        values = dequantise(read_bytes(self.path, info.offset, info.nbytes), info.type)
        return values.view(info.shape).to(dtype or torch.float32)

    def _architecture(self) -> str:
        name = self.config.get("general.architecture")
        if not isinstance(name, str):
            problem = "general.architecture: is missing; it names the model's family"
            raise ModelError(f"{shown(self.path)}: {problem}")
        return name

    def _refuse_parts(self) -> None:
        kind = self.config.get("general.type", "model")
        if kind != "model":
            problem = f"general.type: {quoted(kind)}; only a whole 'model' can be loaded"
            raise ModelError(f"{shown(self.path)}: {problem}")
        parts = self.config.get("split.count", 1)
        if parts not in (0, 1):
            problem = f"split.count: one of {quoted(parts)} parts; merge them into one file"
            raise ModelError(f"{shown(self.path)}: {problem}")
