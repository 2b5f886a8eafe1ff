"""The header reader: what it reads, and what it refuses in one line without hanging."""

from __future__ import annotations

import os
import struct
from typing import TYPE_CHECKING, Any

import gguf
import numpy as np
import pytest
from hypothesis import event, given
from hypothesis import strategies as st

from tests.models.files.making import (
    ARRAY,
    BOOL,
    F32,
    F32_TENSOR,
    Q4_1_TENSOR,
    STRING,
    U8,
    U32,
    U64,
    Gguf,
    array,
    info,
    pair,
    text,
)
from tokenloop_models.errors import ModelError
from tokenloop_models.gguf_header import read_header

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

HUGE = (1 << 64) - 1


def refusal(path: Path) -> str:
    with pytest.raises(ModelError) as caught:
        read_header(path)
    line = str(caught.value)
    assert line.startswith(str(path))
    assert line.isprintable(), "one line, nothing in it that controls a terminal"
    return line.removeprefix(str(path))


def test_reads_every_kind_of_value_as_it_was_written(write_gguf: Callable[..., Path]) -> None:
    scalars = [(0, "B", 200), (1, "b", -3), (2, "H", 60000), (3, "h", -300), (4, "I", 1 << 31)]
    scalars += [(5, "i", -(1 << 30)), (6, "f", 0.5), (10, "Q", 1 << 63), (11, "q", -(1 << 60))]
    scalars += [(12, "d", 0.1)]
    pairs = [pair(f"k{kind}", kind, struct.pack(f"<{code}", v)) for kind, code, v in scalars]
    pairs += [
        pair("yes", BOOL, b"\1"),
        pair("name", STRING, text("né")),
        pair("texts", ARRAY, array(STRING, 2, text("") + text("日本"))),
        pair("flags", ARRAY, array(BOOL, 3, b"\1\0\1")),
        pair("numbers", ARRAY, array(F32, 2, struct.pack("<2f", 1.5, -2))),
        pair("none", ARRAY, array(U32, 0, b"")),
    ]
    metadata = read_header(write_gguf(pairs=pairs)).metadata
    assert {f"k{kind}": value for kind, _, value in scalars}.items() <= metadata.items()
    assert metadata["yes"] is True
    assert metadata["name"] == "né"
    assert metadata["texts"] == ["", "日本"]
    assert metadata["flags"] == [True, False, True]
    assert metadata["numbers"] == [1.5, -2.0]
    assert metadata["none"] == []


def test_a_tensor_is_placed_and_its_shape_is_rows_first(write_gguf: Callable[..., Path]) -> None:
    path = write_gguf(infos=[info("w", [32, 3], Q4_1_TENSOR, 64)], data=bytes(64 + 60))
    header = read_header(path)
    tensor = header.tensors["w"]
    assert (tensor.shape, tensor.type.name, tensor.nbytes) == ((3, 32), "Q4_1", 60)
    assert tensor.offset == header.nbytes + 64
    assert tensor.offset + tensor.nbytes == header.file_bytes


def test_version_2_and_another_alignment_are_read(write_gguf: Callable[..., Path]) -> None:
    pairs = [pair("general.alignment", U32, struct.pack("<I", 256))]
    header = read_header(write_gguf(pairs=pairs, alignment=256, version=2))
    assert header.version == 2
    assert header.tensors["w"].offset == header.nbytes == 256


def test_a_header_larger_than_one_chunk_is_read(write_gguf: Callable[..., Path]) -> None:
    tokens = [f"token {n} {'x' * (n % 997)}" for n in range(20_000)]
    values = b"".join(map(text, tokens))
    path = write_gguf(pairs=[pair("tokens", ARRAY, array(STRING, len(tokens), values))])
    header = read_header(path)
    assert header.nbytes > 8 << 20
    assert header.metadata["tokens"] == tokens


def test_reads_what_the_reference_writer_writes(tmp_path: Path) -> None:
    path = tmp_path / "written.gguf"
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_context_length(128)
    writer.add_token_list(["a", "b"])
    writer.add_array("numbers", [1, 2, 3])
    writer.add_tensor("blk.0.w", np.ones((4, 8), dtype=np.float32))
    writer.add_tensor("v", np.ones(5, dtype=np.float16))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    header = read_header(path)
    assert header.metadata["general.architecture"] == "llama"
    assert header.metadata["llama.context_length"] == 128
    assert header.metadata["tokenizer.ggml.tokens"] == ["a", "b"]
    assert header.metadata["numbers"] == [1, 2, 3]
    reference = gguf.GGUFReader(str(path))
    for tensor in reference.tensors:
        ours = header.tensors[tensor.name]
        assert (ours.offset, ours.nbytes) == (tensor.data_offset, tensor.n_bytes)


def test_quantisation_is_what_most_values_are_stored_in(write_gguf: Callable[..., Path]) -> None:
    infos = [info("a", [32, 4], Q4_1_TENSOR, 0), info("b", [32], F32_TENSOR, 96)]
    assert read_header(write_gguf(infos=infos, data=bytes(224))).quantisation == "Q4_1"
    assert read_header(write_gguf()).quantisation is None


@pytest.mark.parametrize(("code", "name"), [(15, "Q4_K_M"), (0, "Q4_K"), (18, "Q4_K")])
def test_a_recipe_is_named_only_where_it_fits_the_tensors(
    write_gguf: Callable[..., Path], code: int, name: str
) -> None:
    pairs = [pair("general.file_type", U32, struct.pack("<I", code))]
    path = write_gguf(pairs=pairs, infos=[info("w", [256], 12, 0)], data=bytes(144))
    assert read_header(path).quantisation == name


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b"GG", "begins with"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "git-lfs pointer"),
        (b"PK\x03\x04" + bytes(40), "zip archive"),
        (b"FUGG" + bytes(40), "big-endian"),
        (b"GGUF\0\0\0\3" + bytes(40), "big-endian"),
        (b"tjgg" + bytes(40), "before GGUF"),
        (b"\x80\x02}q\0." + bytes(40), "pickle"),
        (b"<!DOCTYPE html><html></html>", "web page"),
        (b"\x1b[2J" + bytes(40), "begins with '\\x1b[2J'"),
    ],
)
def test_another_kind_of_file_is_called_by_its_name(
    tmp_path: Path, content: bytes, said: str
) -> None:
    path = tmp_path / "model.gguf"
    path.write_bytes(content)
    assert said in refusal(path)


@pytest.mark.parametrize("version", [0, 1, 4, 77])
def test_another_version_is_refused_by_number(
    write_gguf: Callable[..., Path], version: int
) -> None:
    assert f"version: {version}; " in refusal(write_gguf(version=version))


WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "more tensors than can be": ({"tensor_count": HUGE}, "tensor count: "),
    "more tensors than there are": ({"tensor_count": 1000}, "tensor "),
    "more keys than can be": ({"key_count": HUGE}, "metadata count: "),
    "more keys than there are": ({"key_count": 1000}, "metadata key "),
    "a key without end": ({"pairs": [struct.pack("<Q", HUGE) + b"k"]}, "metadata key 0: "),
    "a key of the length of the file": (
        {"pairs": [struct.pack("<Q", 60_000) + b"k"]},
        "metadata key 0: ",
    ),
    "a key that is not UTF-8": ({"pairs": [pair(b"\xff\xfe", BOOL, b"\0")]}, "metadata key 0: "),
    "a key twice": ({"pairs": [pair("k", BOOL, b"\0")] * 2}, "k: is there twice"),
    "a string without end": ({"pairs": [pair("k", STRING, struct.pack("<Q", HUGE))]}, "k: "),
    "a value of no known type": ({"pairs": [pair("k", 99, b"\0" * 8)]}, "k: value type 99"),
    "a boolean of 2": ({"pairs": [pair("k", BOOL, b"\2")]}, "k: a boolean"),
    "an array without end": ({"pairs": [pair("k", ARRAY, array(STRING, HUGE, b""))]}, "k: an "),
    "an array of bytes without end": (
        {"pairs": [pair("k", ARRAY, array(U8, 1 << 40, b""))]},
        "k: an array of 1,099,511,627,776 entries",
    ),
    "an array longer than the file": (
        {"pairs": [pair("k", ARRAY, array(STRING, 1000, text("a")))]},
        "k: an array of 1,000 entries",
    ),
    "an array whose strings run out of the file": (
        {"pairs": [pair("k", ARRAY, array(STRING, 2, text("a") + struct.pack("<Q", HUGE)))]},
        "k: needs ",
    ),
    "a string in an array that is not UTF-8": (
        {"pairs": [pair("k", ARRAY, array(STRING, 2, text("a") + text(b"\xff")))]},
        "k[1]: is not UTF-8",
    ),
    "an array of arrays": (
        {"pairs": [pair("k", ARRAY, array(ARRAY, 1, array(U8, 1, b"\0")))]},
        "k: an array of arrays",
    ),
    "an alignment of 0": (
        {"pairs": [pair("general.alignment", U32, struct.pack("<I", 0))]},
        "general.alignment: 0",
    ),
    "an alignment that is no power of two": (
        {"pairs": [pair("general.alignment", U32, struct.pack("<I", 48))]},
        "general.alignment: 48",
    ),
    "an alignment that is text": (
        {"pairs": [pair("general.alignment", STRING, text("32"))]},
        "general.alignment: ",
    ),
    "an alignment beyond the file": (
        {"pairs": [pair("general.alignment", U64, struct.pack("<Q", 1 << 60))]},
        "tensor 'w': offset: ",
    ),
    "no dimensions": ({"infos": [info("w", [], 0, 0)]}, "tensor 'w': shape []"),
    "five dimensions": ({"infos": [info("w", [1] * 5, 0, 0)]}, "tensor 'w': dimensions: 5"),
    "dimensions without end": (
        {"infos": [text("w") + struct.pack("<I", 0xFFFFFFFF)]},
        "tensor 'w': dimensions: ",
    ),
    "a dimension of 0": ({"infos": [info("w", [0, 2], 0, 0)]}, "tensor 'w': shape [2, 0]"),
    "more values than bytes": (
        {"infos": [info("w", [1 << 62, 1 << 62], 0, 0)]},
        "tensor 'w': offset: ends at byte",
    ),
    "an unknown type": ({"infos": [info("w", [32], 4, 0)]}, "tensor 'w': type 4 is not known"),
    "a row of half a block": (
        {"infos": [info("w", [48], Q4_1_TENSOR, 0)]},
        "tensor 'w': rows of 48 values",
    ),
    "an offset beyond the file": (
        {"infos": [info("w", [16], 0, 1 << 40)]},
        "tensor 'w': offset: ends at byte",
    ),
    "an offset that wraps around": (
        {"infos": [info("w", [16], 0, HUGE - 31)]},
        "tensor 'w': offset: ends at byte",
    ),
    "an offset off the alignment": ({"infos": [info("w", [16], 0, 4)]}, "tensor 'w': offset: 4 "),
    "a tensor twice": ({"infos": [info("w", [8], 0, 0)] * 2}, "tensor 'w': is there twice"),
    "two tensors in one place": (
        {"infos": [info("a", [16], 0, 0), info("b", [16], 0, 32)]},
        "tensor 'b': offset: its data overlap those of tensor 'a'",
    ),
    "less data than the tensors": ({"data": bytes(127)}, "tensor 'w': offset: ends at byte"),
    "a name that moves the cursor": (
        {"infos": [info("\x1b[2Jw", [0], 0, 0)]},
        "tensor '\\x1b[2Jw': shape",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_number_that_cannot_be_so_is_refused_by_field(
    write_gguf: Callable[..., Path], case: str
) -> None:
    changes, said = WRONG[case]
    assert said in refusal(write_gguf(**changes))


def test_a_file_cut_anywhere_is_refused(tmp_path: Path) -> None:
    whole = Gguf(pairs=[pair("k", ARRAY, array(STRING, 2, text("ab") + text("c")))]).bytes()
    path = tmp_path / "cut.gguf"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        refusal(path)


def test_entries_of_all_arrays_together_are_bounded(
    write_gguf: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tokenloop_models.gguf_cursor.MAX_ENTRIES", 10)
    nine = array(U8, 9, bytes(9))
    path = write_gguf(pairs=[pair("a", ARRAY, nine), pair("b", ARRAY, nine)])
    assert "b: an array of 9 entries; there is room for 1" in refusal(path)


def test_a_header_is_bounded_in_memory(
    write_gguf: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tokenloop_models.gguf_cursor.MAX_HEADER_BYTES", 100)
    path = write_gguf(pairs=[pair("k", STRING, text("x" * (5 << 20)))])
    assert "k: ends at 5,242," in refusal(path)


def test_missing_folder_pipe_and_forbidden_files_are_refused(tmp_path: Path) -> None:
    assert "no such file" in refusal(tmp_path / "absent.gguf")
    assert "is a folder" in refusal(tmp_path)
    pipe = tmp_path / "pipe.gguf"
    os.mkfifo(pipe)
    assert "not a regular file" in refusal(pipe)


@given(data=st.data())
def test_any_changed_byte_gives_a_header_or_one_line(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    pairs = [
        pair("k", ARRAY, array(STRING, 2, text("ab") + text("c"))),
        pair("n", U32, b"\1\0\0\0"),
    ]
    raw = bytearray(Gguf(pairs=pairs).bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    path = tmp_path_factory.mktemp("fuzz") / "fuzz.gguf"
    path.write_bytes(raw)
    try:
        header = read_header(path)
    except ModelError as error:
        line = str(error)
        event("refused")
    else:
        line = ""
        assert all(t.offset + t.nbytes <= len(raw) for t in header.tensors.values())
    assert line == "" or line.isprintable()
