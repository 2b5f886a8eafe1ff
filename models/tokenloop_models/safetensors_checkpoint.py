"""A checkpoint in safetensors: one file or several with an index, beside a ``config.json``."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from tokenloop_models import compressed
from tokenloop_models.checkpoint import Checkpoint, fingerprint, read_bytes
from tokenloop_models.errors import ModelError, quoted
from tokenloop_models.file_kinds import shown, unreadable
from tokenloop_models.gguf_split import part_names
from tokenloop_models.safetensors_header import SafetensorsHeader, StoredTensor, read_header
from tokenloop_models.strict_json import read_object

if TYPE_CHECKING:
    from pathlib import Path

    import torch

    from tokenloop_models.compressed import Compression

INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")


class SafetensorsCheckpoint(Checkpoint):
    """A model as a folder (or one file) of safetensors; see :class:`Checkpoint`.

    Attributes:
        folder: where ``config.json`` and everything else lies; nothing outside it is read.
    """

    format: Literal["gguf", "safetensors"] = "safetensors"
    quantisation = None

    def __init__(self, path: Path) -> None:
        """Read ``config.json`` and the headers of the weights.

        Raises:
            ModelError: something is missing, damaged, or stored in a way that isn't known.
        """
        self.path = path
        self.folder = path if path.is_dir() else path.parent
        weights = weights_in(path) if path.is_dir() else path
        self.config = self._read_config()
        self.architecture = self._architecture()
        self._headers: dict[Path, SafetensorsHeader] = {}
        self._tensors = self._read_shards(weights) if weights.name == INDEX else self._one(weights)
        self._refuse_compressed(weights, compressed.in_names(self._tensors))

    @cached_property
    def fingerprint(self) -> str:
        """Identify the weights."""
        return fingerprint([(file, header.nbytes) for file, header in self._headers.items()])

    def names(self) -> frozenset[str]:
        """Return the names of all tensors."""
        return frozenset(self._tensors)

    def shape(self, name: str) -> tuple[int, ...]:
        """Return a tensor's shape."""
        if name not in self._tensors:
            raise self.missing(name)
        return self._tensors[name].shape

    def tensor(self, name: str, dtype: torch.dtype | None = None) -> torch.Tensor:
        """Read a tensor of float32, float16 or bfloat16."""
        import torch

        if name not in self._tensors:
            raise self.missing(name)
        stored = self._tensors[name]
        dtypes = {"F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}
        if stored.dtype not in dtypes:
            problem = f"dtype {stored.dtype} can't be read; F32, F16 and BF16 can"
            raise ModelError(f"{shown(stored.file)}: tensor {quoted(name)}: {problem}")
        raw = read_bytes(stored.file, stored.offset, stored.nbytes)
        return raw.view(dtypes[stored.dtype]).view(stored.shape).to(dtype or torch.float32)

    def _read_config(self) -> dict[str, Any]:
        file = self.folder / "config.json"
        if not file.exists():
            raise ModelError(f"{shown(file)}: is missing; it says what the weights are")
        config = read_object(inside(self.folder, file.name))
        self._refuse_compressed(file, compressed.in_config(config))
        return config

    def _refuse_compressed(self, file: Path, found: Compression | None) -> None:
        if found is not None:
            problem = f"{found.field}: {quoted(found.method)} weights can't be read"
            allowed = "F32, F16 and BF16 can, or a quantised GGUF"
            raise ModelError(f"{shown(file)}: {problem}; {allowed}")

    def _architecture(self) -> str:
        name = self.config.get("model_type")
        if not isinstance(name, str):
            problem = "model_type: is missing; it names the model's family"
            raise ModelError(f"{shown(self.folder / 'config.json')}: {problem}")
        return name

    def _one(self, weights: Path) -> dict[str, StoredTensor]:
        index = self.folder / INDEX
        if self.path == weights and index.exists() and weights.name in _shards(index).values():
            problem = f"is one part of several; open the folder {shown(self.folder)}"
            raise ModelError(f"{shown(weights)}: {problem}")
        if self.path != weights:
            weights = inside(self.folder, weights.name)
        header = self._headers[weights] = read_header(weights)
        return header.tensors

    def _read_shards(self, index: Path) -> dict[str, StoredTensor]:
        shard_of = _shards(inside(self.folder, index.name))
        tensors: dict[str, StoredTensor] = {}
        for name, file_name in sorted(shard_of.items(), key=lambda item: (item[1], item[0])):
            file = self.folder / file_name
            if file not in self._headers:
                if not file.exists():
                    raise ModelError(f"{shown(file)}: is missing; {INDEX} names it")
                self._headers[file] = read_header(inside(self.folder, file_name))
            if name not in self._headers[file].tensors:
                problem = f"tensor {quoted(name)} is missing; {INDEX} says it is here"
                raise ModelError(f"{shown(file)}: {problem}")
            tensors[name] = self._headers[file].tensors[name]
        return tensors


def weights_in(folder: Path) -> Path:
    """Find the weights of a folder: a safetensors file, the index of several, or a GGUF.

    Raises:
        ModelError: there are none, or it isn't clear which are meant.
    """
    try:
        files = sorted(file for file in folder.iterdir() if file.is_file())
    except OSError as error:
        raise unreadable(folder, error) from None
    names = {file.name for file in files}
    if "adapter_config.json" in names:
        raise ModelError(f"{shown(folder)}: holds an adapter, not a whole model")
    for name in (SINGLE, INDEX):
        if name in names:
            return folder / name
    for suffix in (".safetensors", ".gguf"):
        found = [file for file in files if file.suffix.lower() == suffix]
        if found and set(part_names(found[0].name)) >= {file.name for file in found}:
            return found[0]  # alone, or the first part of a GGUF that was split
        if found:
            some = ", ".join(quoted(file.name) for file in found[:3])
            raise ModelError(f"{shown(folder)}: holds {len(found)} models ({some}): name one")
    pickles = [file for file in files if file.suffix.lower() in PICKLES]
    if pickles:
        problem = "PyTorch pickles can run code and are never opened; use safetensors or GGUF"
        raise ModelError(f"{shown(pickles[0])}: {problem}")
    raise ModelError(f"{shown(folder)}: holds no .safetensors and no .gguf")


def inside(folder: Path, name: str) -> Path:
    """Return a file of the folder, refusing one that leads out of it.

    A link may lead to the ``blobs`` of the hub cache that the folder is a snapshot of, which is
    how huggingface_hub stores every file.

    Raises:
        ModelError: the name has a folder in it, or is a link to somewhere else.
    """
    file = folder / name
    home = folder.resolve()
    allowed = [home]
    if home.parent.name == "snapshots":
        allowed.append(home.parent.parent / "blobs")
    target = file.resolve()
    if name != file.name or not any(target.is_relative_to(place) for place in allowed):
        raise ModelError(f"{shown(folder)}: {quoted(name)}: leads out of the folder")
    return file


def _shards(index: Path) -> dict[str, str]:
    shard_of = read_object(index).get("weight_map")
    if not isinstance(shard_of, dict) or not shard_of:
        raise ModelError(f"{shown(index)}: weight_map: is missing; it says where tensors are")
    for name, file in shard_of.items():
        if not isinstance(file, str) or not _plain_name(file):
            problem = f"{quoted(file)}; the name of a .safetensors file beside it is needed"
            raise ModelError(f"{shown(index)}: weight_map: {quoted(name)}: {problem}")
    return shard_of


def _plain_name(file: str) -> bool:
    return file.endswith(".safetensors") and not set(file) & set("/\\\0:")
