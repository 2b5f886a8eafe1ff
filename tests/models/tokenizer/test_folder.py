"""tokenizer.json with the files beside it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
import tokenizers

from tests.models.tokenizer.twins import byte_level_json, write_folder
from tokenloop_models.errors import ModelError
from tokenloop_models.tokenizer.from_json import tokenizer_from_folder

if TYPE_CHECKING:
    from pathlib import Path


def changed(**changes: Any) -> str:
    return json.dumps(json.loads(byte_level_json("smollm")) | changes)


def changed_model(**changes: Any) -> str:
    state = json.loads(byte_level_json("smollm"))
    return json.dumps(state | {"model": state["model"] | changes})


def refusal(folder: Path, config: dict[str, Any] | None = None) -> str:
    with pytest.raises(ModelError) as caught:
        tokenizer_from_folder(folder, config or {})
    line = str(caught.value)
    assert line.isprintable()
    return line.removeprefix(f"{folder}/")


def test_it_cuts_as_the_library_does(tmp_path: Path) -> None:
    folder = write_folder(tmp_path, byte_level_json("smollm"))
    ours = tokenizer_from_folder(folder, {})
    theirs = tokenizers.Tokenizer.from_str(byte_level_json("smollm"))
    text = "The capital of Australia is 123 café 😀"
    assert ours.encode(text) == theirs.encode(text).ids
    assert ours.decode(ours.encode(text)) == text
    assert ours.size == theirs.get_vocab_size()
    assert (ours.bos_id, ours.eos_ids, ours.add_bos) == (None, (), False)


def test_a_typed_special_is_plain_text_unless_asked_for(tmp_path: Path) -> None:
    tokenizer = tokenizer_from_folder(write_folder(tmp_path, byte_level_json("smollm")), {})
    assert tokenizer.encode("<|im_end|>", specials=True) == [2]
    assert 2 not in tokenizer.encode("<|im_end|>")
    assert tokenizer.is_special(2)


def test_an_added_token_stands_for_its_own_text(tmp_path: Path) -> None:
    state = json.loads(byte_level_json("smollm"))
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    size = len(state["model"]["vocab"])
    state["added_tokens"] += [{"id": size, "content": "né", "special": False, **flags}]
    tokenizer = tokenizer_from_folder(write_folder(tmp_path, json.dumps(state)), {})
    assert tokenizer.encode("né") == [size]
    assert tokenizer.token_bytes(size) == "né".encode()


def test_ends_are_gathered_from_all_files(tmp_path: Path) -> None:
    folder = write_folder(
        tmp_path,
        byte_level_json("smollm"),
        generation_config={"eos_token_id": [2, 5]},
        tokenizer_config={"eos_token": "<|endoftext|>", "bos_token": {"content": "<|im_start|>"}},
    )
    tokenizer = tokenizer_from_folder(folder, {"eos_token_id": 2})
    assert tokenizer.eos_ids == (2, 5, 0)
    assert (tokenizer.bos_id, tokenizer.add_bos) == (1, False)


@pytest.mark.parametrize("asked", [True, False])
def test_add_bos_token_has_the_last_word(tmp_path: Path, asked: bool) -> None:
    said = {"bos_token": "<|im_start|>", "add_bos_token": asked}
    folder = write_folder(tmp_path, byte_level_json("smollm"), tokenizer_config=said)
    tokenizer = tokenizer_from_folder(folder, {})
    assert tokenizer.add_bos is asked
    assert tokenizer.encode("a", specials=True)[0] != 1, "encode never adds a BOS"


def test_a_post_processor_that_adds_a_token_says_what_it_is(tmp_path: Path) -> None:
    post = {
        "type": "TemplateProcessing",
        "single": [
            {"SpecialToken": {"id": "<|im_start|>", "type_id": 0}},
            {"Sequence": {"id": "A", "type_id": 0}},
        ],
        "pair": [{"Sequence": {"id": "A", "type_id": 0}}],
        "special_tokens": {
            "<|im_start|>": {"id": "<|im_start|>", "ids": [1], "tokens": ["<|im_start|>"]}
        },
    }
    tokenizer = tokenizer_from_folder(write_folder(tmp_path, changed(post_processor=post)), {})
    assert (tokenizer.bos_id, tokenizer.add_bos) == (1, True)


def test_a_space_that_the_cut_puts_first_is_left_out_of_fragments(tmp_path: Path) -> None:
    cut = {"type": "ByteLevel", "add_prefix_space": True, "trim_offsets": True, "use_regex": True}
    folder = write_folder(tmp_path, changed(pre_tokenizer=cut))
    tokenizer = tokenizer_from_folder(folder, {})
    assert tokenizer.decode(tokenizer.encode("the")) == " the"
    assert tokenizer.decode(tokenizer.encode("the", continues=True)) == "the"


def test_what_belongs_to_training_is_switched_off(tmp_path: Path) -> None:
    state = json.loads(changed_model(dropout=0.9))
    state["truncation"] = {
        "direction": "Right",
        "max_length": 3,
        "strategy": "LongestFirst",
        "stride": 0,
    }
    tokenizer = tokenizer_from_folder(write_folder(tmp_path, json.dumps(state)), {})
    text = "The capital of Australia is Canberra. " * 5
    plain = tokenizers.Tokenizer.from_str(byte_level_json("smollm"))
    assert tokenizer.encode(text) == plain.encode(text).ids


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "tokenizer.json: is empty"),
        ("[]", "tokenizer.json: is no JSON object"),
        ("version https://git-lfs.github.com/spec/v1", "tokenizer.json: is a git-lfs pointer"),
        ('{"model": 3}', "tokenizer.json: can't be read: "),
        ("{" * 10_000, "tokenizer.json: can't be read: "),
        (changed(pre_tokenizer={"type": "\x1b[2J"}), "tokenizer.json: can't be read: "),
        (
            changed(model={"type": "WordLevel", "vocab": {"a": 0}, "unk_token": "a"}),
            "tokenizer.json: model.type: WordLevel is not known; BPE is",
        ),
        (
            changed(decoder={"type": "BPEDecoder", "suffix": "</w>"}),
            "tokenizer.json: decoder: 'BPE",
        ),
        (changed(decoder=None, pre_tokenizer=None), "tokenizer.json: decoder: 'nothing'"),
        (
            changed_model(vocab={"a": 4_000_000_000}, merges=[]),
            "tokenizer.json: model.vocab: id 4,000,000,000",
        ),
    ],
)
def test_a_tokenizer_json_that_is_not_known_is_refused(
    tmp_path: Path, content: str, said: str
) -> None:
    assert refusal(write_folder(tmp_path, content)).startswith(said)


def test_a_folder_without_a_tokenizer_json_says_so(tmp_path: Path) -> None:
    assert refusal(tmp_path).startswith("tokenizer.json: is missing")


@pytest.mark.parametrize(
    ("beside", "said"),
    [
        ({"tokenizer_config": {"bos_token": "<s>"}}, "tokenizer_config.json: bos_token: '<s>' is"),
        ({"tokenizer_config": {"eos_token": 3}}, "tokenizer_config.json: eos_token: 3 is no token"),
        (
            {"generation_config": {"eos_token_id": "x"}},
            "generation_config.json: eos_token_id: 'x'; token ids are needed",
        ),
        ({"tokenizer_config": [1]}, "tokenizer_config.json: content: is a JSON list"),
    ],
)
def test_files_beside_it_are_refused_by_field(
    tmp_path: Path, beside: dict[str, Any], said: str
) -> None:
    assert refusal(write_folder(tmp_path, byte_level_json("smollm"), **beside)).startswith(said)


def test_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    outside = write_folder(tmp_path / "outside", byte_level_json("smollm"))
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "tokenizer.json").symlink_to(outside / "tokenizer.json")
    assert "leads out of the folder" in refusal(folder)
