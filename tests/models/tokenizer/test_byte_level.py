"""Byte-level vocabularies, from a GGUF's metadata and from a tokenizer.json."""

from __future__ import annotations

import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from tests.models.tokenizer.sweeps import sweeps
from tests.models.tokenizer.twins import PUBLISHED, TEXTS, byte_level_json, gguf_metadata
from tokenloop_models.errors import ModelError
from tokenloop_models.tokenizer import Tokenizer
from tokenloop_models.tokenizer.from_gguf import tokenizer_from_gguf
from tokenloop_models.tokenizer.spelling import BYTE_OF_LETTER

FILE = Path("model.gguf")
COMPOSED = {pre for pre, said in PUBLISHED.items() if "normalizer" in said}

# Unicode of every kind, and the letters that cuts and merges turn on.
any_text = st.text() | st.text("aAtTeE'sSlLvdm 019\n\r\t.,é\u0301日😀<|_im_end|>", max_size=40)


@cache
def from_gguf(pre: str) -> Tokenizer:
    return tokenizer_from_gguf(FILE, gguf_metadata(byte_level_json(pre), pre))


@cache
def published(pre: str) -> tokenizers.Tokenizer:
    backend = tokenizers.Tokenizer.from_str(byte_level_json(pre))
    backend.encode_special_tokens = True
    return backend


def refusal(**changes: Any) -> str:
    metadata = gguf_metadata(byte_level_json("smollm"), "smollm")
    metadata |= {f"tokenizer.ggml.{key}": value for key, value in changes.items()}
    with pytest.raises(ModelError) as caught:
        tokenizer_from_gguf(
            FILE, {key: value for key, value in metadata.items() if value is not None}
        )
    line = str(caught.value)
    assert line.startswith("model.gguf: tokenizer.ggml.")
    assert line.isprintable()
    return line.removeprefix("model.gguf: tokenizer.ggml.")


def test_the_byte_alphabet_is_the_librarys() -> None:
    assert set(BYTE_OF_LETTER) == set(tokenizers.pre_tokenizers.ByteLevel.alphabet())
    assert sorted(BYTE_OF_LETTER.values()) == list(range(256))


@pytest.mark.parametrize("pre", PUBLISHED)
@given(text=any_text)
def test_a_gguf_cuts_as_the_published_tokenizer_json(pre: str, text: str) -> None:
    assert from_gguf(pre).encode(text) == published(pre).encode(text).ids


@pytest.mark.parametrize("pre", PUBLISHED)
def test_ids_equal_the_published_ones_over_unicode_digits_code_and_emoji(pre: str) -> None:
    ours, theirs = from_gguf(pre), published(pre)
    for text in sweeps():
        ids = ours.encode(text)
        assert ids == theirs.encode(text, add_special_tokens=False).ids
        joined = b"".join(map(ours.token_bytes, ids))
        changed = unicodedata.normalize("NFC", text) if pre in COMPOSED else text
        assert joined == changed.encode()


@pytest.mark.parametrize("pre", sorted(PUBLISHED.keys() - COMPOSED))
@given(text=any_text)
def test_token_bytes_join_to_the_text(pre: str, text: str) -> None:
    tokenizer = from_gguf(pre)
    ids = tokenizer.encode(text)
    assert b"".join(map(tokenizer.token_bytes, ids)) == text.encode()
    assert tokenizer.decode(ids) == text
    assert tokenizer.encode(text, continues=True) == ids


def test_qwen2_composes_accents_first() -> None:
    tokenizer = from_gguf("qwen2")
    assert tokenizer.decode(tokenizer.encode("e\u0301")) == "é"


@pytest.mark.parametrize("text", TEXTS[:5])
def test_a_partial_character_shows_as_a_replacement(text: str) -> None:
    tokenizer = from_gguf("gpt-2")
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert tokenizer.decode(tokenizer.encode("日")[:1]) == "\ufffd"


def test_a_word_that_is_a_token_is_taken_whole_only_by_llama_3() -> None:
    tokenizer_json = byte_level_json("llama-bpe")
    metadata = gguf_metadata(tokenizer_json, "llama-bpe")
    metadata["tokenizer.ggml.tokens"].append("Ġunmergeable")
    metadata["tokenizer.ggml.token_type"].append(1)
    whole = tokenizer_from_gguf(FILE, metadata)
    merged = tokenizer_from_gguf(FILE, metadata | {"tokenizer.ggml.pre": "gpt-2"})
    assert whole.encode(" unmergeable") == [whole.size - 1]
    assert len(merged.encode(" unmergeable")) > 1


def test_default_cuts_as_llama_cpp_does_and_says_that_it_is_doubtful() -> None:
    metadata = gguf_metadata(byte_level_json("gpt-2"), "default")
    tokenizer = tokenizer_from_gguf(FILE, metadata)
    said = "model.gguf: tokenizer.ggml.pre: 'default' names no model's own cut into words: "
    assert [notice.startswith(said) for notice in tokenizer.notices] == [True]
    text = "don't 12345 a$b=c"
    assert tokenizer.decode(tokenizer.encode(text)) == text
    assert from_gguf("gpt-2").notices == ()


def test_a_typed_special_is_plain_text_unless_asked_for() -> None:
    tokenizer = from_gguf("smollm")
    text = "a<|im_end|>b"
    plain = tokenizer.encode(text)
    assert not any(map(tokenizer.is_special, plain))
    assert tokenizer.decode(plain) == text
    special = tokenizer.encode(text, specials=True)
    assert special == [*tokenizer.encode("a"), 2, *tokenizer.encode("b")]
    assert tokenizer.encode(text) == plain, "asking for specials once changes nothing after"
    assert tokenizer.decode(special) == text
    assert tokenizer.token_bytes(2) == b"<|im_end|>"
    assert tokenizer.id_of("<|im_end|>") == 2
    assert tokenizer.id_of("<|nothing|>") is None


def test_a_user_defined_token_is_found_and_is_text() -> None:
    metadata = gguf_metadata(byte_level_json("smollm"), "smollm")
    metadata["tokenizer.ggml.tokens"] += ["<tool é>", "[PAD]"]
    metadata["tokenizer.ggml.token_type"] += [4, 5]
    tokenizer = tokenizer_from_gguf(FILE, metadata)
    tool = tokenizer.size - 1
    assert tokenizer.encode("<tool é>") == [tool]
    assert tokenizer.token_bytes(tool) == "<tool é>".encode()
    assert not tokenizer.is_special(tool)


def test_ids_without_a_token_stand_for_nothing() -> None:
    metadata = gguf_metadata(byte_level_json("smollm"), "smollm")
    size = len(metadata["tokenizer.ggml.tokens"])
    metadata["tokenizer.ggml.tokens"] += ["[PAD1]", "last", "[PAD2]", "[PAD3]"]
    metadata["tokenizer.ggml.token_type"] += [5, 1, 5, 5]
    tokenizer = tokenizer_from_gguf(FILE, metadata)
    assert tokenizer.size == size + 2, "padding at the end is not counted"
    unused = [size, size + 2, size + 3, 1_000_000, -1]
    assert [tokenizer.token_bytes(token_id) for token_id in unused] == [b""] * 5
    assert tokenizer.token_bytes(size + 1) == b"last"
    assert tokenizer.decode(unused) == ""


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb"])
def test_half_a_surrogate_pair_is_refused(text: str) -> None:
    with pytest.raises(ModelError, match=r"text: character \d is half of a surrogate pair"):
        from_gguf("smollm").encode(text)


def test_what_begins_and_ends_a_text_is_read_from_the_file() -> None:
    metadata = gguf_metadata(byte_level_json("smollm"), "smollm")
    tokenizer = tokenizer_from_gguf(FILE, metadata)
    assert (tokenizer.bos_id, tokenizer.eos_ids, tokenizer.add_bos) == (1, (2, 0), False)
    asked = tokenizer_from_gguf(FILE, metadata | {"tokenizer.ggml.add_bos_token": True})
    assert asked.add_bos
    assert 1 not in asked.encode("a"), "encode never adds a BOS"
    assert tokenizer_from_gguf(FILE, metadata | {"tokenizer.ggml.pre": "llama-bpe"}).add_bos
    turn = tokenizer_from_gguf(FILE, metadata | {"tokenizer.ggml.eot_token_id": 1})
    assert turn.eos_ids == (2, 1, 0)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"model": None}, "model: None is not known; gpt2 and llama are"),
        ({"model": "bert"}, "model: 'bert' is not known; gpt2 and llama are"),
        ({"model": ["gpt2"]}, "model: ['gpt2'] is not known"),
        ({"pre": None}, "pre: is missing; known are gpt-2, "),
        ({"pre": "mystery"}, "pre: 'mystery' is not known; known are gpt-2, "),
        ({"pre": "\x1b[2J"}, "pre: '\\x1b[2J' is not known; "),
        ({"tokens": None}, "tokens: is missing"),
        ({"tokens": [1, 2]}, "tokens: is missing; a list of str"),
        ({"tokens": ["a", "b", "a"], "token_type": [1, 1, 1]}, "tokens: 'a' is there twice"),
        ({"token_type": None}, "token_type: is missing"),
        ({"token_type": [1]}, "token_type: 1 entries for 400 tokens"),
        ({"token_type": [9] * 400}, "token_type: 9 is not known; 1 to 6 are"),
        ({"merges": None}, "merges: is missing"),
        ({"merges": ["abc"]}, "merges: entry 0 is 'abc'; two parts are needed"),
        ({"merges": ["a b c"]}, "merges: entry 0 is 'a b c'"),
        ({"merges": ["日 本"]}, "merges: don't fit the tokens"),
        ({"bos_token_id": 400}, "bos_token_id: 400; 0 to 399 are allowed"),
        ({"eos_token_id": "2"}, "eos_token_id: '2'; 0 to 399 are allowed"),
        ({"add_bos_token": 1}, "add_bos_token: 1; true or false"),
        ({"add_bos_token": True, "bos_token_id": None}, "bos_token_id: is missing"),
    ],
)
def test_metadata_that_is_not_known_is_refused_by_key(changes: dict[str, Any], said: str) -> None:
    assert refusal(**changes).startswith(said)
