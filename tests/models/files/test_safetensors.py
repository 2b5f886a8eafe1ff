"""Safetensors: a file, several with an index, and everything that must be refused."""

from __future__ import annotations

import json
import os
import struct
from typing import TYPE_CHECKING, Any

import pytest
import torch
from hypothesis import event, given
from hypothesis import strategies as st
from safetensors.torch import save_file

from tests.models.files.making import safetensors
from tokenloop_models.checkpoint import open_checkpoint
from tokenloop_models.errors import ModelError
from tokenloop_models.safetensors_header import read_header

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

INDEX = "model.safetensors.index.json"
CONFIG = {"model_type": "llama", "hidden_size": 8}
W = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}


def config(folder: Path, **changes: Any) -> None:
    (folder / "config.json").write_text(json.dumps(CONFIG | changes))


def refusal(path: Path) -> str:
    with pytest.raises(ModelError) as caught:
        open_checkpoint(path)
    line = str(caught.value)
    assert line.isprintable(), "one line, nothing in it that controls a terminal"
    return line


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    config(tmp_path)
    return tmp_path


@pytest.fixture
def sharded(folder: Path) -> Path:
    save_file(
        {"a": torch.ones(2), "b": torch.zeros(3)}, folder / "model-00001-of-00002.safetensors"
    )
    save_file({"c": torch.full((2, 2), 7.0)}, folder / "model-00002-of-00002.safetensors")
    shard = "model-0000{}-of-00002.safetensors"
    shards = {"a": shard.format(1), "b": shard.format(1), "c": shard.format(2)}
    (folder / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": shards}))
    return folder


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_reads_what_the_library_writes(folder: Path, dtype: torch.dtype) -> None:
    tensors = {
        "w": torch.randn(3, 5).to(dtype),
        "one": torch.randn(4).to(dtype),
        "scalar": torch.tensor(2.5).to(dtype),
    }
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    checkpoint = open_checkpoint(folder)
    assert (checkpoint.format, checkpoint.architecture) == ("safetensors", "llama")
    assert checkpoint.quantisation is None
    assert checkpoint.config == CONFIG
    assert checkpoint.names() == tensors.keys()
    for name, values in tensors.items():
        assert checkpoint.shape(name) == values.shape
        assert torch.equal(checkpoint.tensor(name), values.float())
        assert torch.equal(checkpoint.tensor(name, dtype), values)


def test_one_file_stands_for_its_folder(folder: Path) -> None:
    save_file({"w": torch.ones(2)}, folder / "weights.safetensors")
    by_file = open_checkpoint(folder / "weights.safetensors")
    by_folder = open_checkpoint(folder)
    assert by_file.names() == by_folder.names() == {"w"}
    assert by_file.fingerprint == by_folder.fingerprint


def test_shards_are_read_through_their_index(sharded: Path) -> None:
    checkpoint = open_checkpoint(sharded)
    assert checkpoint.names() == {"a", "b", "c"}
    assert torch.equal(checkpoint.tensor("c"), torch.full((2, 2), 7.0))
    assert torch.equal(checkpoint.tensor("b"), torch.zeros(3))
    with pytest.raises(ModelError, match="tensor 'd' is missing"):
        checkpoint.tensor("d")


def test_the_fingerprint_follows_every_shard(sharded: Path) -> None:
    before = open_checkpoint(sharded).fingerprint
    save_file({"c": torch.full((2, 2), 8.0)}, sharded / "model-00002-of-00002.safetensors")
    assert open_checkpoint(sharded).fingerprint != before


def test_one_shard_alone_points_to_the_folder(sharded: Path) -> None:
    line = refusal(sharded / "model-00001-of-00002.safetensors")
    assert line.endswith(f"is one part of several; open the folder {sharded}")


def test_a_missing_shard_is_named(sharded: Path) -> None:
    (sharded / "model-00002-of-00002.safetensors").unlink()
    assert "model-00002-of-00002.safetensors: is missing" in refusal(sharded)


def test_a_tensor_that_its_shard_lacks_is_named(sharded: Path) -> None:
    shards = {"x": "model-00002-of-00002.safetensors"}
    (sharded / INDEX).write_text(json.dumps({"weight_map": shards}))
    assert "tensor 'x' is missing" in refusal(sharded)


@pytest.mark.parametrize(
    "name",
    ["../x.safetensors", "/x.safetensors", "sub/x.safetensors", "x.bin", "", 3, "..", "a\\b"],
)
def test_an_index_that_leads_out_of_its_folder_is_refused(sharded: Path, name: Any) -> None:
    (sharded / INDEX).write_text(json.dumps({"weight_map": {"a": name}}))
    assert "weight_map: 'a': " in refusal(sharded)


@pytest.mark.parametrize("content", ["{}", '{"weight_map": []}', '{"weight_map": {}}'])
def test_an_index_without_a_map_is_refused(sharded: Path, content: str) -> None:
    (sharded / INDEX).write_text(content)
    assert "weight_map: is missing" in refusal(sharded)


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_a_link_out_of_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    folder, outside = tmp_path / "model", tmp_path / "outside"
    for place in (folder, outside):
        place.mkdir()
        config(place)
        save_file({"w": torch.ones(2)}, place / "model.safetensors")
    (folder / name).unlink()
    (folder / name).symlink_to(outside / name)
    assert "leads out of the folder" in refusal(folder)


def test_a_snapshot_of_the_hub_cache_links_to_its_blobs(tmp_path: Path) -> None:
    snapshot, blobs = (
        tmp_path / "models--x" / "snapshots" / "1a2b",
        tmp_path / "models--x" / "blobs",
    )
    for place in (snapshot, blobs):
        place.mkdir(parents=True)
    config(blobs)
    save_file({"w": torch.ones(2)}, blobs / "beef")
    (snapshot / "config.json").symlink_to("../../blobs/config.json")
    (snapshot / "model.safetensors").symlink_to("../../blobs/beef")
    assert torch.equal(open_checkpoint(snapshot).tensor("w"), torch.ones(2))


def test_missing_config_and_family_are_named(tmp_path: Path) -> None:
    save_file({"w": torch.ones(2)}, tmp_path / "model.safetensors")
    assert "config.json: is missing" in refusal(tmp_path)
    (tmp_path / "config.json").write_text("{}")
    assert "config.json: model_type: is missing" in refusal(tmp_path)


@pytest.mark.parametrize(
    ("field", "said", "shown"),
    [
        *(
            ("quantization_config", {"quant_method": method}, f"{method!r}")
            for method in ("gptq", "awq", "bitsandbytes", "compressed-tensors", "fp8", "hqq")
        ),
        ("quantization_config", {"load_in_4bit": True}, "'bitsandbytes 4-bit'"),
        ("quantization_config", {"load_in_8bit": True}, "'bitsandbytes 8-bit'"),
        ("quantization_config", {}, "'compressed'"),
        ("quantization_config", "x\x1b", "'x\\x1b'"),
        ("compression_config", {"format": "pack-quantized"}, "'compressed'"),
        ("quantization", {"group_size": 64, "bits": 4}, "'MLX 4-bit'"),
    ],
)
def test_compressed_weights_are_refused_by_method(
    tmp_path: Path, field: str, said: Any, shown: str
) -> None:
    config(tmp_path, **{field: said})
    save_file({"w": torch.ones(2)}, tmp_path / "model.safetensors")
    line = refusal(tmp_path)
    assert f"config.json: {field}: {shown} weights can't be read; F32, F16 and BF16 can" in line


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("model.layers.0.self_attn.q_proj.qweight", "GPTQ or AWQ"),
        ("model.layers.0.mlp.up_proj.SCB", "bitsandbytes int8"),
        ("layers.0.up.weight.quant_state.bitsandbytes__nf4", "bitsandbytes 4-bit"),
        ("layers.0.up.weight_packed", "compressed-tensors"),
        ("layers.0.up.weight_scale_inv", "fp8"),
        ("layers.0.up.scales", "MLX"),
    ],
)
def test_compressed_weights_whose_config_is_silent_are_known_by_their_names(
    tmp_path: Path, name: str, method: str
) -> None:
    config(tmp_path)
    save_file({name: torch.ones(2)}, tmp_path / "model.safetensors")
    assert f"tensor {name!r}: {method!r} weights can't be read" in refusal(tmp_path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "no sound JSON"),
        ("[]", "is a JSON list"),
        ('{"a": 1, "a": 2}', "key 'a' is there twice"),
        ("[" * 100_000, "nested too deep"),
        ('{"a": ' + "1" * 5000 + "}", "no sound JSON"),
    ],
)
def test_a_config_that_is_no_sound_object_is_refused(folder: Path, content: str, said: str) -> None:
    save_file({"w": torch.ones(2)}, folder / "model.safetensors")
    (folder / "config.json").write_text(content)
    assert said in refusal(folder)


@pytest.mark.parametrize("dtype", ["F8_E4M3", "I64", "F64", "BOOL"])
def test_another_dtype_is_refused_with_its_tensor(
    folder: Path, write_safetensors: Callable[..., Path], dtype: str
) -> None:
    size = {"F8_E4M3": 1, "I64": 8, "F64": 8, "BOOL": 1}[dtype]
    said = {"dtype": dtype, "shape": [2], "data_offsets": [0, 2 * size]}
    path = write_safetensors({"blk.w": said}, bytes(2 * size))
    checkpoint = open_checkpoint(folder)
    with pytest.raises(ModelError, match=rf"{path}: tensor 'blk.w': dtype {dtype} can't be read"):
        checkpoint.tensor("blk.w")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "git-lfs pointer"),
        (b"PK\x03\x04" + bytes(40), "zip archive"),
        (struct.pack("<Q", 1 << 63) + b"{}", "header: 9,223,372,036,854,775,808 bytes"),
        (struct.pack("<Q", 3) + b"{}", "header: 3 bytes, at most 2"),
        (struct.pack("<Q", 2) + b"[]", "header: is no JSON object"),
        (b"\1\2\3", "header: "),
    ],
)
def test_another_kind_of_file_is_called_by_its_name(
    folder: Path, content: bytes, said: str
) -> None:
    (folder / "model.safetensors").write_bytes(content)
    assert said in refusal(folder)


WRONG: dict[str, tuple[Any, bytes, str]] = {
    "no JSON": (b"{x}", b"", "header: is no sound JSON"),
    "not UTF-8": (b'{"\xff": 1}', b"", "header: is not UTF-8"),
    "nested without end": (b'{"a":' * 50_000, b"", "header: is nested too deep"),
    "a name twice": (
        b'{"w":{"dtype":"F32","shape":[],"data_offsets":[0,4]},'
        b'"w":{"dtype":"F32","shape":[],"data_offsets":[0,4]}}',
        bytes(4),
        "key 'w' is there twice",
    ),
    "no object": ({"w": 3}, b"", "tensor 'w': is described by 3"),
    "a name that moves the cursor": ({"\x1b[2J\n": 3}, b"", "tensor '\\x1b[2J\\n': is described"),
    "an unknown dtype": ({"w": W | {"dtype": "Q4"}}, bytes(16), "dtype: 'Q4' is not known"),
    "a dtype that is no text": ({"w": W | {"dtype": [1]}}, bytes(16), "dtype: [1] is not known"),
    "no shape": ({"w": {"dtype": "F32", "data_offsets": [0, 4]}}, bytes(4), "shape: None"),
    "a negative size": ({"w": W | {"shape": [-2, -2]}}, bytes(16), "shape: [-2, -2]"),
    "a size that is no number": ({"w": W | {"shape": [True, 4]}}, bytes(16), "shape: [True, 4]"),
    "more values than bytes": (
        {"w": W | {"shape": [1 << 62, 1 << 62]}},
        bytes(16),
        "data_offsets: 16 bytes don't make",
    ),
    "an end before its begin": ({"w": W | {"data_offsets": [16, 0]}}, bytes(16), "[16, 0]; "),
    "one offset": ({"w": W | {"data_offsets": [16]}}, bytes(16), "data_offsets: [16]; "),
    "offsets beyond the file": ({"w": W}, bytes(12), "its tensors end at byte"),
    "data that belong to nothing": ({"w": W}, bytes(20), "its tensors end at byte"),
    "a gap": ({"w": W | {"data_offsets": [4, 20]}}, bytes(20), "leaves a gap before it"),
    "two tensors in one place": ({"v": W, "w": W}, bytes(16), "overlaps another tensor"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_header_that_cannot_be_so_is_refused_by_field(
    folder: Path, write_safetensors: Callable[..., Path], case: str
) -> None:
    header, data, said = WRONG[case]
    path = write_safetensors(header, data)
    line = refusal(folder)
    assert line.startswith(f"{path}: ")
    assert said in line


@pytest.mark.parametrize("name", ["pytorch_model.bin", "model.pt", "model.pth"])
def test_pickles_are_refused_by_name_and_never_opened(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    torch.save({"w": torch.ones(2)}, folder / name)
    monkeypatch.setattr(torch, "load", lambda *_, **__: pytest.fail("torch.load was called"))
    assert f"{name}: PyTorch pickles can run code" in refusal(folder)
    assert f"{name}: PyTorch pickles can run code" in refusal(folder / name)


def test_folders_without_one_clear_model_are_refused(folder: Path) -> None:
    assert "holds no .safetensors and no .gguf" in refusal(folder)
    for name in ("a.safetensors", "b.safetensors"):
        save_file({"w": torch.ones(2)}, folder / name)
    assert "holds 2 models ('a.safetensors', 'b.safetensors'): name one" in refusal(folder)
    (folder / "adapter_config.json").write_text("{}")
    assert "holds an adapter" in refusal(folder)


def test_a_file_that_got_shorter_is_an_error_not_a_crash(folder: Path) -> None:
    path = folder / "model.safetensors"
    save_file({"w": torch.ones(2)}, path)
    checkpoint = open_checkpoint(folder)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ModelError, match="became shorter"):
        checkpoint.tensor("w")


def test_a_pipe_in_the_place_of_a_file_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "model.safetensors")
    assert "holds no .safetensors" in refusal(folder)
    assert "not a regular file" in refusal(folder / "model.safetensors")


@given(data=st.data())
def test_any_changed_byte_gives_a_header_or_one_line(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    second = {"dtype": "BF16", "shape": [3], "data_offsets": [16, 22]}
    raw = bytearray(safetensors({"w": W, "v": second}, bytes(22)))
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("fuzz") / "fuzz.safetensors"
    path.write_bytes(raw)
    try:
        header = read_header(path)
    except ModelError as error:
        line = str(error)
        event("refused")
    else:
        line = ""
        assert sum(tensor.nbytes for tensor in header.tensors.values()) + header.nbytes == len(raw)
    assert line == "" or line.isprintable()
