"""From a name or a path to a model that runs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import torch

from tokenloop_models.checkpoint import open_checkpoint
from tokenloop_models.decoder import Decoder
from tokenloop_models.errors import ModelError, quoted
from tokenloop_models.families import family_of, read_config
from tokenloop_models.file_kinds import shown
from tokenloop_models.finding import resolve
from tokenloop_models.levels import TYPES_WITH_LEVELS, has_levels
from tokenloop_models.memory import memory_for
from tokenloop_models.model import Model, ModelInfo
from tokenloop_models.parts.packed import packed_products_work
from tokenloop_models.products import PackedProducts, Products
from tokenloop_models.tokenizer import load_tokenizer
from tokenloop_models.weights import Weights

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tokenloop_models.checkpoint import Checkpoint

DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}
PRECISIONS = ("exact", "fast")
MOST_THREADS = 1024
QUANTISATION = re.compile(r"[-._](i?q\d\w*|f16|f32|bf16|fp16|fp32)$", re.IGNORECASE)


def load(
    source: str | Path,
    *,
    device: str = "auto",
    dtype: str = "auto",
    precision: str = "exact",
    threads: int | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Model:
    """Load a model; see :func:`tokenloop_models.load`."""
    where = chosen_device(device)
    kind = chosen_dtype(dtype, where)
    check_precision(precision, where)
    _set_threads(threads)
    path = resolve(source)
    checkpoint = open_checkpoint(path)
    if precision == "fast":
        _check_packable(checkpoint)
    family = family_of(checkpoint)
    config = read_config(checkpoint, family)
    tokenizer = load_tokenizer(checkpoint)
    kind_name = str(kind).removeprefix("torch.")
    weights_of = f"the weights of {shown(path)} as {kind_name} on {where}"
    with memory_for(weights_of), torch.inference_mode():
        weights = Weights(checkpoint, family, config, kind, where, progress)
        products = PackedProducts(weights, kind) if precision == "fast" else Products(weights)
        decoder = Decoder(config, weights, products, where)
    info = ModelInfo(
        name=_name(path, checkpoint),
        family=family.name,
        device=str(where),
        dtype=kind_name,
        threads=torch.get_num_threads(),
        quantisation=checkpoint.quantisation,
        parameters=weights.parameters,
        layers=len(config.layers),
        kv_heads=config.kv_heads,
        head_dim=config.head_dim,
        vocab_size=config.vocab_size,
        context_length=config.context_length,
        fingerprint=checkpoint.fingerprint,
        precision=precision,
        notices=products.notices,
    )
    return Model(decoder, tokenizer, info, config, device=where, dtype=kind)


def chosen_device(device: str) -> torch.device:
    """Resolve ``auto|cpu|cuda[:n]``.

    Raises:
        ModelError: it is none of these, or this machine has no such device.
    """
    if device == "auto":
        return torch.device("cuda", 0) if torch.cuda.is_available() else torch.device("cpu")
    if device == "cpu":
        return torch.device("cpu")
    match = re.fullmatch(r"cuda(?::(\d{1,3}))?", device) if isinstance(device, str) else None
    if match is None:
        raise ModelError(f"device = {quoted(device)} is not possible: auto, cpu, cuda or cuda:N")
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    index = int(match[1] or 0)
    if index >= count:
        there = f"it sees {count}" if count else "it sees none"
        raise ModelError(f"device = {device} is not there: torch needs a CUDA device, {there}")
    return torch.device("cuda", index)


def chosen_dtype(dtype: str, device: torch.device) -> torch.dtype:
    """Resolve ``auto|float32|bfloat16|float16``: exact on a CPU, fast on a GPU where not said.

    Raises:
        ModelError: it is none of these.
    """
    if dtype == "auto":
        return torch.float32 if device.type == "cpu" else torch.bfloat16
    if dtype not in DTYPES:
        allowed = ", ".join(["auto", *DTYPES])
        raise ModelError(f"dtype = {quoted(dtype)} is not possible: {allowed}")
    return DTYPES[dtype]


def check_precision(precision: str, device: torch.device) -> None:
    """Refuse a precision that isn't ``exact`` or, where this torch can do that, ``fast``.

    Raises:
        ModelError: it is none of these, or not possible here.
    """
    if precision not in PRECISIONS:
        allowed = ", ".join(PRECISIONS)
        raise ModelError(f"precision = {quoted(precision)} is not possible: {allowed}")
    if precision == "fast" and device.type != "cpu":
        raise ModelError(f"precision = fast is not possible on {device}: cpu only")
    if precision == "fast" and not packed_products_work():
        missing = "has no product over packed 4-bit weights that is known; exact works"
        raise ModelError(f"precision = fast is not possible: torch {torch.__version__} {missing}")


def _name(path: Path, checkpoint: Checkpoint) -> str:
    """Name a model for people: a file that is called by its hash (Ollama's) as it says itself."""
    said = checkpoint.config.get("general.name")
    by_hash = path.name.startswith("sha256-") and isinstance(said, str)
    return quoted(said)[1:-1] if by_hash else title(path)


def title(path: Path) -> str:
    """Name a model for people, by its file or folder: the name without the quantisation.

    A file that is only called ``model`` is named after its folder, a snapshot in the hub's cache
    after its repository.
    """
    stem = path.name.removesuffix(".gguf").removesuffix(".safetensors")
    stem = re.sub(r"-\d+-of-\d+$", "", stem)  # one of several files
    if stem.lower() == "model":
        path = path.absolute().parent
        stem = path.name
    if path.parent.name == "snapshots":
        stem = path.parent.parent.name.rpartition("--")[2]
    return quoted(QUANTISATION.sub("", stem) or "model")[1:-1]


def _check_packable(checkpoint: Checkpoint) -> None:
    kinds = {checkpoint.block_type(name) for name in checkpoint.names()}
    if any(kind is not None and has_levels(kind) for kind in kinds):
        return
    problem = f"precision = fast needs weights in a packed form ({TYPES_WITH_LEVELS})"
    held = checkpoint.quantisation or "plain floats"
    raise ModelError(f"{shown(checkpoint.path)}: {problem}; it holds {held}")


def _set_threads(threads: int | None) -> None:
    if threads is None:
        return
    whole = isinstance(threads, int) and not isinstance(threads, bool)
    if not whole or not 1 <= threads <= MOST_THREADS:
        allowed = f"a whole number from 1 to {MOST_THREADS}"
        raise ModelError(f"threads = {quoted(threads)} is not possible: {allowed}")
    torch.set_num_threads(threads)
