"""A GGUF model in several files: opened by naming any, refused by the name of the wrong one."""

from __future__ import annotations

import shutil
import struct
from typing import TYPE_CHECKING

import gguf
import numpy as np
import pytest

from tests.models.files.making import STRING, Gguf, info, pair, text
from tokenloop_models.checkpoint import open_checkpoint
from tokenloop_models.errors import ModelError
from tokenloop_models.gguf_split import part_names, read_parts

if TYPE_CHECKING:
    from pathlib import Path

U16, I32 = 2, 5
VALUES = {f"w{n}": np.full((2, 32), n, dtype=np.float32) for n in range(5)}


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    """Five tensors in three files, as the reference library splits them."""
    writer = gguf.GGUFWriter(tmp_path / "big.gguf", "llama", split_max_tensors=2)
    writer.add_context_length(128)
    for name, values in VALUES.items():
        writer.add_tensor(name, values)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return sorted(tmp_path.iterdir())


def part(
    number: int | None, count: int | None, tensors: int | None = None, name: str = "w"
) -> bytes:
    """A part that says of itself what it is told to."""
    said = (("split.no", U16, "<H", number), ("split.count", U16, "<H", count))
    said += (("split.tensors.count", I32, "<i", tensors),)
    pairs = [pair("general.architecture", STRING, text("llama"))]
    pairs += [pair(key, kind, struct.pack(form, n)) for key, kind, form, n in said if n is not None]
    return Gguf(pairs=pairs, infos=[info(name, [16, 2], 0, 0)]).bytes()


def write(folder: Path, *contents: bytes) -> list[Path]:
    paths = [folder / f"m-{n:05d}-of-{len(contents):05d}.gguf" for n in range(1, len(contents) + 1)]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    return paths


def refusal(path: Path) -> str:
    with pytest.raises(ModelError) as caught:
        open_checkpoint(path)
    line = str(caught.value)
    assert line.isprintable()
    return line.removeprefix(f"{path.parent}/")


def test_naming_any_part_opens_the_whole_model(parts: list[Path]) -> None:
    assert [path.name for path in parts] == [f"big-0000{n}-of-00003.gguf" for n in (1, 2, 3)]
    opened = [open_checkpoint(path) for path in parts]
    for checkpoint in opened:
        assert checkpoint.architecture == "llama"
        assert checkpoint.config["llama.context_length"] == 128
        assert checkpoint.names() == VALUES.keys()
        for name, values in VALUES.items():
            assert checkpoint.shape(name) == values.shape
            assert np.array_equal(checkpoint.tensor(name).numpy(), values)
    assert len({checkpoint.fingerprint for checkpoint in opened}) == 1


def test_the_fingerprint_follows_every_part(parts: list[Path]) -> None:
    before = open_checkpoint(parts[0]).fingerprint
    raw = bytearray(parts[2].read_bytes())
    raw[-3] ^= 1
    parts[2].write_bytes(raw)
    assert open_checkpoint(parts[0]).fingerprint != before


def test_a_folder_with_the_parts_of_one_model_is_that_model(parts: list[Path]) -> None:
    assert open_checkpoint(parts[0].parent).names() == VALUES.keys()
    shutil.copy(parts[0], parts[0].with_name("other.gguf"))
    assert "holds 4 models" in refusal(parts[0].parent)


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_a_missing_part_is_named(parts: list[Path], missing: int) -> None:
    parts[missing].unlink()
    there = parts[(missing + 1) % 3]
    said = f"{parts[missing].name}: is missing; {there.name!r} is of the same model"
    assert refusal(there) == said


def test_a_part_under_another_parts_name_is_refused(parts: list[Path]) -> None:
    shutil.copy(parts[1], parts[2])
    assert refusal(parts[0]) == f"{parts[2].name}: split.no: 1; by the name of the file it is 2"


def test_a_part_of_a_model_with_more_parts_is_refused(tmp_path: Path) -> None:
    first, second = write(tmp_path, part(0, 2), part(1, 3, name="v"))
    assert refusal(first) == f"{second.name}: split.count: 3; by the name of the file it is 2"
    said = f"{second.name}: split.count: 3, but by its name it is one of 2; "
    assert refusal(second).startswith(said)


def test_a_renamed_part_says_what_its_name_should_be(parts: list[Path]) -> None:
    renamed = parts[1].rename(parts[1].with_name("renamed.gguf"))
    line = refusal(renamed)
    assert line.startswith("renamed.gguf: split.count: 3, but by its name it is one of 1; ")
    assert line.endswith("the parts of a model are called NAME-00001-of-00003.gguf")


def test_a_name_that_says_part_of_a_file_that_does_not_is_refused(tmp_path: Path) -> None:
    first, _ = write(tmp_path, part(None, None), part(None, None))
    assert refusal(first).startswith(
        f"{first.name}: split.count: 1, but by its name it is one of 2"
    )


def test_a_whole_model_may_be_called_one_of_one(tmp_path: Path) -> None:
    for content in (part(None, None), part(0, 1, 1)):
        (path,) = write(tmp_path, content)
        assert open_checkpoint(path).names() == {"w"}


def test_a_tensor_in_two_parts_is_refused(tmp_path: Path) -> None:
    first, second = write(tmp_path, part(0, 2), part(1, 2))
    assert refusal(first) == f"{second.name}: tensor 'w' is in {first.name!r} too"


def test_a_tensor_too_few_is_refused(tmp_path: Path) -> None:
    first, _ = write(tmp_path, part(0, 2, 3), part(1, 2, name="v"))
    assert refusal(first) == f"{first.name}: split.tensors.count: 3; the parts hold 2"


def test_a_damaged_part_is_named(parts: list[Path]) -> None:
    parts[1].write_bytes(b"version https://git-lfs.github.com/spec/v1")
    assert refusal(parts[2]).startswith(f"{parts[1].name}: is a git-lfs pointer")


def test_a_part_that_links_elsewhere_is_refused(parts: list[Path], tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    parts[1].rename(elsewhere / "part.gguf")
    parts[1].symlink_to(elsewhere / "part.gguf")
    assert refusal(parts[0]) == f"{parts[1].name}: leads out of the folder of {parts[0].name!r}"


def test_parts_may_all_be_links_into_one_folder(parts: list[Path], tmp_path: Path) -> None:
    """The hub's cache: a snapshot holds links into ``blobs``."""
    snapshot = tmp_path / "snapshot"
    snapshot.mkdir()
    for path in parts:
        (snapshot / path.name).symlink_to(path)
    assert open_checkpoint(snapshot / parts[1].name).names() == VALUES.keys()


def test_a_count_of_parts_that_cannot_be_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(Gguf(pairs=[pair("split.count", I32, struct.pack("<i", -1))]).bytes())
    assert refusal(path) == "m.gguf: split.count: -1; a whole number up to 99,999 is allowed"


def test_names_of_parts() -> None:
    assert part_names("m.gguf") == ["m.gguf"]
    assert part_names("a-b-00002-of-00003.GGUF")[0] == "a-b-00001-of-00003.GGUF"
    assert part_names("m-00000-of-00000.gguf") == []


def test_zero_parts_by_name_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m-00000-of-00000.gguf"
    path.write_bytes(Gguf().bytes())
    with pytest.raises(ModelError, match="one of 0"):
        read_parts(path)
