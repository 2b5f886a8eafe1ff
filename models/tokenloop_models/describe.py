"""What a list or a picker shows of a model, read from its headers: no torch, no weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenloop_models import compressed, safetensors_header
from tokenloop_models.errors import ModelError, quoted
from tokenloop_models.family_names import ARCHITECTURES, unsupported
from tokenloop_models.file_kinds import shown
from tokenloop_models.gguf_header import main_type, quantisation
from tokenloop_models.gguf_split import read_parts
from tokenloop_models.strict_json import read_object

_MOST_CONFIG_BYTES = 1 << 20
_FLOATS = {"F32": "float32", "F16": "float16", "BF16": "bfloat16", "F64": "float64"}
_CONTEXT_FIELDS = ("max_position_embeddings", "n_positions", "n_ctx", "seq_length")


@dataclass(frozen=True)
class LocalModel:
    """A model on this machine.

    Attributes:
        name: what a person types to open it: a catalogue name, a hub id, a name in another
            program's store or a path.
        title: what to call it.
        path: the file or folder.
        size: of its weights, in bytes.
        family: the architecture that its file names.
        quantisation: of the file ("Q4_K_M", "gptq"), ``None`` for plain floats.
        context_length: in tokens, ``None`` where the file doesn't say.
        dtype: of plain floats ("bfloat16"), ``None`` where they are quantised or not said.
        problem: why it can't be opened, ``None`` where it may be.
    """

    name: str
    title: str
    path: Path
    size: int
    family: str
    quantisation: str | None
    context_length: int | None
    dtype: str | None = None
    problem: str | None = None

    @property
    def weights(self) -> str:
        """What its weights are stored in, for people."""
        return self.quantisation or self.dtype or "floats"


def describe(path: Path, name: str) -> LocalModel:
    """Read from a model's header or ``config.json`` what a list shows of it.

    Args:
        path: a GGUF (any part of a split one) or a folder with safetensors.
        name: what a person types for it.

    Raises:
        ModelError: the file can't be read, is no model, or doesn't say what it is.
    """
    return _describe_folder(path, name) if path.is_dir() else _describe_gguf(path, name)


def weights_size(path: Path) -> int:
    """Return the bytes of a model's weights: of a file, or of the safetensors in a folder."""
    files = [path] if path.is_file() else list(path.glob("*.safetensors"))
    return sum(file.stat().st_size for file in files if file.is_file())


def _describe_gguf(path: Path, name: str) -> LocalModel:
    parts = read_parts(path)
    metadata = parts[0].metadata
    family = metadata.get("general.architecture")
    if not isinstance(family, str):
        raise ModelError(f"{shown(path)}: general.architecture: is missing")
    if metadata.get("general.type", "model") != "model" or family == "clip":
        raise ModelError(f"{shown(path)}: general.type: is no model of its own")
    title = metadata.get("general.name")
    tensors = [tensor for part in parts for tensor in part.tensors.values()]
    known = family in ARCHITECTURES
    return LocalModel(
        name=name,
        title=title if isinstance(title, str) else path.stem,
        path=path,
        size=sum(part.file_bytes for part in parts),
        family=family,
        quantisation=quantisation(tensors, metadata),
        context_length=_whole(metadata.get(f"{family}.context_length")),
        dtype=_FLOATS.get(main_type(tensors)),
        problem=None if known else f"general.architecture: {quoted(family)} is not supported",
    )


def _describe_folder(folder: Path, name: str) -> LocalModel:
    config = read_object(folder / "config.json", _MOST_CONFIG_BYTES)
    family = config.get("model_type")
    if not isinstance(family, str):
        raise ModelError(f"{shown(folder / 'config.json')}: model_type: is missing")
    compression = compressed.in_config(config)
    return LocalModel(
        name=name,
        title=name.partition("@")[0] if name.count("/") == 1 else folder.name,
        path=folder,
        size=weights_size(folder),
        family=family,
        quantisation=compression.method if compression is not None else None,
        context_length=_context(config),
        dtype=_dtype(folder) if compression is None else None,
        problem=unsupported(config),
    )


def _context(config: Mapping[str, Any]) -> int | None:
    """Read how many tokens fit; a model of text and images says so of its text part."""
    inner = config.get("text_config")
    for said in (config, inner if isinstance(inner, dict) else {}):
        for field in _CONTEXT_FIELDS:
            if (length := _whole(said.get(field))) is not None:
                return length
    return None


def _dtype(folder: Path) -> str | None:
    """Return what most of the first safetensors file is stored in."""
    first = next(iter(sorted(folder.glob("*.safetensors"))), None)
    if first is None:
        return None
    sizes: dict[str, int] = {}
    for tensor in safetensors_header.read_header(first).tensors.values():
        sizes[tensor.dtype] = sizes.get(tensor.dtype, 0) + tensor.nbytes
    main = max(sizes, key=lambda dtype: sizes[dtype], default="")
    return _FLOATS.get(main, main or None)


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
