"""Every tensor type against the reference reader's own dequantisation, on random blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import gguf
import numpy as np
import pytest
import torch
from gguf import GGML_QUANT_SIZES, GGMLQuantizationType
from gguf.quants import _type_traits

from tests.models.files.making import info
from tokenloop_models.block_readers import BLOCK_READERS
from tokenloop_models.dequantise import VALUES_AT_ONCE, dequantise
from tokenloop_models.errors import ModelError
from tokenloop_models.gguf_checkpoint import GgufCheckpoint
from tokenloop_models.gguf_types import TYPES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DEQUANTISABLE = sorted(kind.name for kind in _type_traits)
CODES = {kind.name: kind.code for kind in TYPES.values()}


def random_blocks(name: str, rows: int, blocks: int) -> np.ndarray:
    """Random bytes, so every bit pattern may come, infinite and undefined scales among them."""
    nbytes = GGML_QUANT_SIZES[GGMLQuantizationType[name]][1]
    generator = np.random.default_rng(len(name) + rows)
    return generator.integers(0, 256, (rows, blocks * nbytes), dtype=np.uint8)


def expected(raw: np.ndarray, name: str) -> np.ndarray:
    with np.errstate(all="ignore"):
        return gguf.quants.dequantize(raw, GGMLQuantizationType[name])


def same(values: torch.Tensor, reference: np.ndarray) -> bool:
    return np.array_equal(values.numpy(), reference, equal_nan=True)


def test_the_table_of_types_is_the_published_one() -> None:
    ours = {kind.name: (kind.code, kind.block, kind.block_bytes) for kind in TYPES.values()}
    theirs = {kind.name: (int(kind), *GGML_QUANT_SIZES[kind]) for kind in GGML_QUANT_SIZES}
    assert ours.items() >= theirs.items()


@pytest.mark.parametrize("name", DEQUANTISABLE)
def test_every_type_reads_as_in_the_reference(tmp_path: Path, name: str) -> None:
    kind = GGMLQuantizationType[name]
    raw = random_blocks(name, rows=5, blocks=3)
    path = tmp_path / "written.gguf"
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_tensor("w", raw, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    values = GgufCheckpoint(path).tensor("w")
    assert values.dtype == torch.float32
    assert values.shape == (5, 3 * GGML_QUANT_SIZES[kind][0])
    assert same(values, expected(raw, name))


@pytest.mark.parametrize("name", BLOCK_READERS)
def test_the_fast_readers_equal_the_library_across_pieces(name: str) -> None:
    kind = TYPES[CODES[name]]
    raw = random_blocks(name, rows=1, blocks=VALUES_AT_ONCE // kind.block + 3)
    values = dequantise(torch.from_numpy(raw.reshape(-1)), kind)
    assert same(values, expected(raw, name).reshape(-1))


@pytest.mark.parametrize(
    ("name", "dtype"), [("F32", np.float32), ("F16", np.float16), ("F64", np.float64)]
)
def test_plain_floats_read_as_they_are(
    write_gguf: Callable[..., Path], name: str, dtype: type
) -> None:
    numbers = np.random.default_rng(1).normal(size=(4, 8)).astype(dtype)
    path = write_gguf(infos=[info("w", [8, 4], CODES[name], 0)], data=numbers.tobytes())
    assert same(GgufCheckpoint(path).tensor("w"), numbers.astype(np.float32))


@pytest.mark.parametrize("name", ["I32", "Q8_1"])
def test_what_holds_no_weights_is_refused_by_name(
    write_gguf: Callable[..., Path], name: str
) -> None:
    kind = TYPES[CODES[name]]
    path = write_gguf(infos=[info("w", [kind.block], kind.code, 0)], data=bytes(kind.block_bytes))
    with pytest.raises(ModelError, match=rf"tensor 'w': type {name} can't be dequantised"):
        GgufCheckpoint(path).tensor("w")
