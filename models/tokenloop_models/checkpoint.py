"""What a decoder needs of a checkpoint, whatever format it is stored in."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Literal

from tokenloop_models.errors import ModelError, quoted
from tokenloop_models.file_kinds import file_size, shown, unreadable, what_it_is

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import torch

    from tokenloop_models.gguf_types import TensorType

SAMPLES, SAMPLE_BYTES = 64, 4096


class Checkpoint(ABC):
    """A model's configuration and weights as they lie on the disk.

    Opening one reads and checks headers only; the weights are read one by one as they are asked
    for. Names are the file's own: a family's file knows what they mean.

    Attributes:
        path: what was opened: the ``.gguf``, the ``.safetensors`` or the folder.
        format: how it is stored.
        architecture: ``general.architecture`` of a GGUF, ``model_type`` of a ``config.json``.
        config: all metadata of a GGUF (arrays as lists), or the content of ``config.json``.
        quantisation: what the weights are stored in, for people ("Q4_1"); ``None``: plain floats.
        fingerprint: sha256 over the headers and 64 blocks of 4 KiB spread over the weights, with
            the files' sizes. It tells models and quantisations apart in milliseconds; it is no
            seal against someone who changes weights between the sampled blocks.
    """

    path: Path
    format: Literal["gguf", "safetensors"]
    architecture: str
    config: Mapping[str, Any]
    quantisation: str | None

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """Identify the weights, at the cost of reading the headers and a few blocks."""

    @abstractmethod
    def names(self) -> frozenset[str]:
        """Return the names of all tensors."""

    @abstractmethod
    def shape(self, name: str) -> tuple[int, ...]:
        """Return a tensor's shape in torch's order: (rows, columns) of a matrix.

        Raises:
            ModelError: there is no such tensor.
        """

    @abstractmethod
    def tensor(self, name: str, dtype: torch.dtype | None = None) -> torch.Tensor:
        """Read a tensor into host memory of its own, dequantised.

        Args:
            name: the file's own name for it.
            dtype: of the result; float32 where not given.

        Raises:
            ModelError: there is no such tensor, its type can't be read, or the file has changed.
        """

    def block_type(self, name: str) -> TensorType | None:
        """Say in what blocks a tensor is stored; ``None``: in none, its values stand alone."""
        return None

    def blocks(self, name: str) -> torch.Tensor:
        """Read a tensor that :meth:`block_type` knows as it is stored: uint8, (…, row bytes).

        Raises:
            ModelError: it is not stored in blocks, or as for :meth:`tensor`.
        """
        raise ModelError(f"{shown(self.path)}: tensor {quoted(name)} is not stored in blocks")

    def missing(self, name: str) -> ModelError:
        """Make the error for a tensor that isn't there."""
        problem = f"tensor {quoted(name)} is missing ({len(self.names()):,} others are there)"
        return ModelError(f"{shown(self.path)}: {problem}")


def open_checkpoint(path: Path) -> Checkpoint:
    """Open a ``.gguf`` file, a ``.safetensors`` file beside its ``config.json``, or a folder.

    What a file is, is told by its first bytes, not by its name. No code from a folder ever runs
    and nothing outside it is read.

    Raises:
        ModelError: it is missing, damaged, something else, or stored in a way that isn't known.
    """
    from tokenloop_models.gguf_checkpoint import GgufCheckpoint
    from tokenloop_models.safetensors_checkpoint import SafetensorsCheckpoint, weights_in

    if path.is_dir():
        weights = weights_in(path)
        return GgufCheckpoint(weights) if _is_gguf(weights) else SafetensorsCheckpoint(path)
    if path.suffix.lower() == ".safetensors" and not _is_gguf(path):
        return SafetensorsCheckpoint(path)
    file_size(path)
    if path.suffix.lower() in (".bin", ".pt", ".pth", ".ckpt", ".pkl"):
        problem = "PyTorch pickles can run code and are never opened; use safetensors or GGUF"
        raise ModelError(f"{shown(path)}: {problem}")
    return GgufCheckpoint(path)


def read_bytes(path: Path, offset: int, nbytes: int) -> torch.Tensor:
    """Read a part of a file.

    It is read, not mapped: a file that gets shorter while it is mapped ends the process.

    Returns:
        uint8, (nbytes,), with memory of its own.

    Raises:
        ModelError: the file can't be read, or no longer has these bytes.
    """
    import torch

    raw = torch.empty(nbytes, dtype=torch.uint8)
    view = raw.numpy().data
    try:
        with path.open("rb", buffering=0) as file:
            file.seek(offset)
            done = 0
            while done < nbytes and (count := file.readinto(view[done:])):
                done += count
    except OSError as error:
        raise unreadable(path, error) from None
    if done < nbytes:
        raise ModelError(f"{shown(path)}: became shorter while it was read")
    return raw


def fingerprint(files: Sequence[tuple[Path, int]]) -> str:
    """Identify weights without reading all of them (see :class:`Checkpoint`).

    Args:
        files: each file with the number of bytes that its header takes.
    """
    digest = hashlib.sha256()
    for path, header_bytes in files:
        size = file_size(path)
        digest.update(f"{size}:{header_bytes}:".encode())
        step = max((size - header_bytes) // SAMPLES, SAMPLE_BYTES)
        try:
            with path.open("rb") as file:
                digest.update(file.read(header_bytes))
                for offset in range(header_bytes, size, step):
                    file.seek(offset)
                    digest.update(file.read(SAMPLE_BYTES))
        except OSError as error:
            raise unreadable(path, error) from None
    return digest.hexdigest()


def _is_gguf(path: Path) -> bool:
    file_size(path)
    try:
        with path.open("rb") as file:
            return what_it_is(file.read(4)) == what_it_is(b"GGUF")
    except OSError as error:
        raise unreadable(path, error) from None
