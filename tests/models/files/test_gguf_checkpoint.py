"""A GGUF file as a checkpoint."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from tests.models.files.making import F32_TENSOR, STRING, U32, Gguf, info, pair, text
from tokenloop_models.checkpoint import open_checkpoint
from tokenloop_models.errors import ModelError

if TYPE_CHECKING:
    from collections.abc import Callable

ARCHITECTURE = pair("general.architecture", STRING, text("llama"))


def test_it_says_what_the_file_is(write_gguf: Callable[..., Path]) -> None:
    checkpoint = open_checkpoint(write_gguf())
    assert checkpoint.format == "gguf"
    assert checkpoint.architecture == "llama"
    assert checkpoint.config["general.architecture"] == "llama"
    assert checkpoint.quantisation is None
    assert checkpoint.names() == {"w"}
    assert checkpoint.shape("w") == (2, 16)


def test_a_tensor_has_the_dtype_asked_for_and_memory_of_its_own(
    write_gguf: Callable[..., Path],
) -> None:
    path = write_gguf()
    checkpoint = open_checkpoint(path)
    first = checkpoint.tensor("w")
    assert torch.equal(first, torch.arange(32.0).view(2, 16))
    assert checkpoint.tensor("w", torch.bfloat16).dtype == torch.bfloat16
    first.zero_()
    assert torch.equal(checkpoint.tensor("w"), torch.arange(32.0).view(2, 16))
    assert path.read_bytes() == Gguf().bytes()


@pytest.mark.parametrize("method", ["shape", "tensor"])
def test_a_missing_tensor_is_named(write_gguf: Callable[..., Path], method: str) -> None:
    path = write_gguf()
    with pytest.raises(ModelError, match=r"tensor 'output.weight' is missing \(1 others"):
        getattr(open_checkpoint(path), method)("output.weight")


def test_a_file_that_got_shorter_is_an_error_not_a_crash(write_gguf: Callable[..., Path]) -> None:
    path = write_gguf()
    checkpoint = open_checkpoint(path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ModelError, match="became shorter"):
        checkpoint.tensor("w")
    path.unlink()
    with pytest.raises(ModelError, match="no such file"):
        checkpoint.tensor("w")


def test_the_fingerprint_follows_header_weights_and_size(write_gguf: Callable[..., Path]) -> None:
    numbers = np.zeros(32, dtype=np.float32)
    prints = {open_checkpoint(write_gguf(data=numbers.tobytes())).fingerprint}
    assert open_checkpoint(write_gguf(data=numbers.tobytes())).fingerprint in prints
    numbers[17] = 1e-9
    prints.add(open_checkpoint(write_gguf(data=numbers.tobytes())).fingerprint)
    prints.add(open_checkpoint(write_gguf(data=numbers.tobytes() + b"\0")).fingerprint)
    prints.add(open_checkpoint(write_gguf(infos=[info("v", [16, 2], 0, 0)])).fingerprint)
    assert len(prints) == 4


@pytest.mark.parametrize(
    ("pairs", "said"),
    [
        ([pair("k", STRING, text("v"))], "general.architecture: is missing"),
        ([ARCHITECTURE, pair("general.type", STRING, text("adapter"))], "general.type: 'adapter'"),
        ([ARCHITECTURE, pair("split.count", U32, struct.pack("<I", 4))], "split.count: 4, but by"),
    ],
)
def test_a_gguf_that_is_no_whole_model_is_refused(
    write_gguf: Callable[..., Path], pairs: list[bytes], said: str
) -> None:
    path = write_gguf(pairs=pairs)
    with pytest.raises(ModelError) as caught:
        open_checkpoint(path)
    assert str(caught.value).startswith(f"{path}: {said}")


def test_a_folder_with_one_gguf_is_that_gguf(write_gguf: Callable[..., Path]) -> None:
    path = write_gguf()
    assert open_checkpoint(path.parent).path == path


def test_what_a_file_is_counts_not_its_name(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(Gguf(infos=[info("w", [16, 2], F32_TENSOR, 0)]).bytes())
    assert open_checkpoint(path).format == "gguf"


def test_opening_needs_no_torch(write_gguf: Callable[..., Path]) -> None:
    code = (
        "import sys; from pathlib import Path\n"
        "from tokenloop_models.checkpoint import open_checkpoint\n"
        "checkpoint = open_checkpoint(Path(sys.argv[1])); checkpoint.fingerprint\n"
        "assert not {'torch', 'numpy', 'gguf', 'tokenizers'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(write_gguf())], check=True)


@pytest.mark.real
def test_the_default_model_reads_as_in_the_reference(real_model_path: Path) -> None:
    from gguf import GGUFReader
    from gguf.quants import dequantize

    checkpoint = open_checkpoint(real_model_path)
    assert (checkpoint.architecture, checkpoint.quantisation) == ("llama", "Q4_1")
    reference = {tensor.name: tensor for tensor in GGUFReader(str(real_model_path)).tensors}
    assert checkpoint.names() == reference.keys()
    for name in ("token_embd.weight", "blk.0.attn_q.weight", "blk.29.ffn_norm.weight"):
        stored = reference[name]
        values = dequantize(stored.data, stored.tensor_type)
        assert checkpoint.shape(name) == values.shape
        assert np.array_equal(checkpoint.tensor(name).numpy(), values)
