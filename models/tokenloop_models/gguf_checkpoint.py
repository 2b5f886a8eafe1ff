"""A checkpoint in GGUF: one file, or the parts that a large one was split into."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Literal

from tokenloop_models.checkpoint import Checkpoint, fingerprint, read_bytes
from tokenloop_models.errors import ModelError, quoted
from tokenloop_models.file_kinds import shown
from tokenloop_models.gguf_header import quantisation
from tokenloop_models.gguf_split import read_parts

if TYPE_CHECKING:
    from pathlib import Path

    import torch

    from tokenloop_models.gguf_header import TensorInfo
    from tokenloop_models.gguf_types import TensorType


class GgufCheckpoint(Checkpoint):
    """A model in GGUF; see :class:`Checkpoint`.

    Attributes:
        parts: everything that the file, or each of the model's files, says before its data.
    """

    format: Literal["gguf", "safetensors"] = "gguf"

    def __init__(self, path: Path) -> None:
        """Read the headers.

        Raises:
            ModelError: a file is damaged or missing, or is a GGUF but no model.
        """
        self.path = path
        self.parts = read_parts(path)
        self.config = self.parts[0].metadata
        self._refuse_what_is_no_model()
        self.architecture = self._architecture()
        self._tensors = {
            name: (part.path, tensor)
            for part in self.parts
            for name, tensor in part.tensors.items()
        }
        tensors = [stored for _, stored in self._tensors.values()]
        self.quantisation = quantisation(tensors, self.config)

    @cached_property
    def fingerprint(self) -> str:
        """Identify the weights."""
        return fingerprint([(part.path, part.nbytes) for part in self.parts])

    def names(self) -> frozenset[str]:
        """Return the names of all tensors."""
        return frozenset(self._tensors)

    def shape(self, name: str) -> tuple[int, ...]:
        """Return a tensor's shape in torch's order."""
        return self._stored(name)[1].shape

    def tensor(self, name: str, dtype: torch.dtype | None = None) -> torch.Tensor:
        """Read and dequantise a tensor."""
        import torch

        from tokenloop_models.dequantise import can_dequantise, dequantise

        path, info = self._stored(name)
        if not can_dequantise(info.type):
            problem = f"tensor {quoted(name)}: type {info.type.name} can't be dequantised"
            raise ModelError(f"{shown(path)}: {problem}")
        values = dequantise(read_bytes(path, info.offset, info.nbytes), info.type)
        return values.view(info.shape).to(dtype or torch.float32)

    def block_type(self, name: str) -> TensorType | None:
        """Say in what blocks a tensor is stored."""
        kind = self._stored(name)[1].type
        return kind if kind.block > 1 else None

    def blocks(self, name: str) -> torch.Tensor:
        """Read a tensor as it is stored."""
        path, info = self._stored(name)
        raw = read_bytes(path, info.offset, info.nbytes)
        return raw.view(*info.shape[:-1], -1)

    def _stored(self, name: str) -> tuple[Path, TensorInfo]:
        if name not in self._tensors:
            raise self.missing(name)
        return self._tensors[name]

    def _architecture(self) -> str:
        name = self.config.get("general.architecture")
        if not isinstance(name, str):
            problem = "general.architecture: is missing; it names the model's family"
            raise ModelError(f"{shown(self.path)}: {problem}")
        return name

    def _refuse_what_is_no_model(self) -> None:
        kind = self.config.get("general.type", "model")
        if kind != "model":
            problem = f"general.type: {quoted(kind)}; only a whole 'model' can be loaded"
            raise ModelError(f"{shown(self.path)}: {problem}")
