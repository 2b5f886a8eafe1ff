"""vocab.json and merges.txt: read as GPT-2's own tokenizer reads them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.models.tokenizer.sweeps import sweeps
from tests.models.tokenizer.twins import byte_level_json
from tokenloop_models.errors import ModelError
from tokenloop_models.tokenizer import Tokenizer
from tokenloop_models.tokenizer.from_json import tokenizer_from_folder

# As OPT's says it: one token begins and ends a text.
SAID = {
    "tokenizer_class": "GPT2Tokenizer",
    "add_bos_token": True,
    "add_prefix_space": False,
    "bos_token": {"__type": "AddedToken", "content": "<|endoftext|>", "normalized": True},
    "eos_token": "<|endoftext|>",
    "unk_token": "<|endoftext|>",
    "pad_token": "<|im_end|>",
}


def write(folder: Path, **changes: Any) -> Path:
    model = json.loads(byte_level_json("gpt-2"))["model"]
    (folder / "vocab.json").write_text(json.dumps(model["vocab"]), encoding="utf-8")
    lines = ["#version: 0.2", *(" ".join(pair) for pair in model["merges"]), ""]
    (folder / "merges.txt").write_text("\n".join(lines), encoding="utf-8")
    (folder / "tokenizer_config.json").write_text(json.dumps(SAID | changes), encoding="utf-8")
    return folder


def refusal(folder: Path) -> str:
    with pytest.raises(ModelError) as caught:
        tokenizer_from_folder(folder, {})
    line = str(caught.value)
    assert line.isprintable()
    return line.removeprefix(f"{folder}/")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("gpt2"))


@pytest.fixture(scope="module")
def tokenizer(folder: Path) -> Tokenizer:
    return tokenizer_from_folder(folder, {})


def test_ids_equal_the_reference_librarys(folder: Path, tokenizer: Tokenizer) -> None:
    from transformers import GPT2Tokenizer

    reference = GPT2Tokenizer.from_pretrained(folder)
    for text in sweeps():
        ids = tokenizer.encode(text)
        assert ids == reference.encode(text, add_special_tokens=False, split_special_tokens=True)
        assert b"".join(map(tokenizer.token_bytes, ids)) == text.encode()


def test_what_begins_and_ends_a_text(tokenizer: Tokenizer) -> None:
    assert (tokenizer.bos_id, tokenizer.eos_ids, tokenizer.add_bos) == (0, (0,), True)
    assert tokenizer.encode("a<|im_end|>", specials=True) == [*tokenizer.encode("a"), 2]
    assert tokenizer.is_special(2)
    assert 2 not in tokenizer.encode("<|im_end|>")


def test_a_prefix_space_is_put_before_a_text_where_the_file_says_so(tmp_path: Path) -> None:
    tokenizer = tokenizer_from_folder(write(tmp_path, add_prefix_space=True), {})
    assert tokenizer.decode(tokenizer.encode("the")) == " the"
    assert tokenizer.decode(tokenizer.encode("the", continues=True)) == "the"


def test_a_tokenizer_json_comes_first(tmp_path: Path) -> None:
    (write(tmp_path) / "tokenizer.json").write_text(byte_level_json("smollm"), encoding="utf-8")
    tokenizer = tokenizer_from_folder(tmp_path, {})
    assert len(tokenizer.encode("123456")) == 6, "it cuts off each digit, GPT-2 does not"


@pytest.mark.parametrize("reader", [None, "CodeGenTokenizer", 3])
def test_files_that_another_program_reads_are_refused(tmp_path: Path, reader: Any) -> None:
    line = refusal(write(tmp_path, tokenizer_class=reader))
    assert line.startswith(f"tokenizer_config.json: tokenizer_class: {reader!r}; vocab.json and")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("vocab.json", "[]", "vocab.json: content: is a JSON list"),
        ("vocab.json", '{"a": "b"}', "vocab.json: 'a': 'b' is no token id"),
        ("vocab.json", '{"a": -1}', "vocab.json: 'a': -1 is no token id"),
        ("merges.txt", "#version\na b c\n", "merges.txt: line 2: 'a b c': two parts are needed"),
        ("merges.txt", "abc", "merges.txt: line 1: 'abc': two parts are needed"),
        ("merges.txt", "日 本", "merges.txt: don't fit vocab.json: "),
    ],
)
def test_damaged_files_are_refused_by_name(
    tmp_path: Path, name: str, content: str, said: str
) -> None:
    (write(tmp_path) / name).write_text(content, encoding="utf-8")
    assert refusal(tmp_path).startswith(said)


def test_one_file_without_the_other_is_no_tokenizer(tmp_path: Path) -> None:
    (write(tmp_path) / "merges.txt").unlink()
    assert refusal(tmp_path).startswith("tokenizer.json: is missing")


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    model = tmp_path / "model"
    model.mkdir()
    merges = write(model) / "merges.txt"
    merges.rename(tmp_path / "merges.txt")
    merges.symlink_to(tmp_path / "merges.txt")
    assert "leads out of the folder" in refusal(model)
