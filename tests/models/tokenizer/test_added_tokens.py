"""Added tokens with white space on either side: ids as the reference library's."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from tests.models.tokenizer.twins import (
    byte_level_json,
    sentencepiece_json,
    sentencepiece_metadata,
    write_folder,
)
from tokenloop_models.tokenizer import Tokenizer
from tokenloop_models.tokenizer.from_gguf import tokenizer_from_gguf
from tokenloop_models.tokenizer.from_json import tokenizer_from_folder
from tokenloop_models.tokenizer.merges import merges_from_scores

FLAGS = {
    "<|left|>": {"special": True, "lstrip": True},
    "<|right|>": {"special": True, "rstrip": True},
    "<|both|>": {"special": True, "lstrip": True, "rstrip": True},
    "<|none|>": {"special": True},
    "[left]": {"lstrip": True},
    "[right]": {"rstrip": True},
    "word": {"single_word": True},
    "Été": {"normalized": True},
    "<|é norm|>": {"special": True, "normalized": True},
}
"""What may be said of an added token, alone and together."""

pieces = [*FLAGS, " ", "  ", "\n", "\t", "a", "words", "sword", "e\u0301", "E\u0301te\u0301", "1"]
texts = st.lists(st.sampled_from(pieces), max_size=12).map("".join)


def with_flags(tokenizer_json: str, first_id: int) -> str:
    state = json.loads(tokenizer_json)
    plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    state["added_tokens"] += [
        {"id": first_id + n, "content": content, "special": False} | plain | said
        for n, (content, said) in enumerate(FLAGS.items())
    ]
    return json.dumps(state)


def byte_level(**changes: Any) -> str:
    state = json.loads(byte_level_json("qwen2")) | changes
    return with_flags(json.dumps(state), len(state["model"]["vocab"]))


def sentencepiece() -> str:
    metadata = sentencepiece_metadata()
    tokens = metadata["tokenizer.ggml.tokens"]
    pairs = zip(tokens, metadata["tokenizer.ggml.scores"], strict=True)
    merges = merges_from_scores(dict(islice(pairs, 260, None)))
    return with_flags(sentencepiece_json(metadata, merges), len(tokens))


WITH_PREFIX = {
    "type": "ByteLevel",
    "add_prefix_space": True,
    "trim_offsets": True,
    "use_regex": True,
}
FORMS = {
    "byte level": byte_level(),
    "byte level with a prefix": byte_level(pre_tokenizer=WITH_PREFIX),
    "sentencepiece": sentencepiece(),
}


@pytest.fixture(scope="module", params=FORMS)
def both(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Tokenizer, tokenizers.Tokenizer]:
    form = FORMS[request.param]
    folder = write_folder(tmp_path_factory.mktemp("added"), form)
    return tokenizer_from_folder(folder, {}), tokenizers.Tokenizer.from_str(form)


@given(text=texts, specials=st.booleans())
def test_ids_equal_the_librarys(
    both: tuple[Tokenizer, tokenizers.Tokenizer], text: str, specials: bool
) -> None:
    ours, theirs = both
    theirs.encode_special_tokens = not specials
    assert ours.encode(text, specials=specials) == theirs.encode(text, add_special_tokens=False).ids


def without_prefix(form: str) -> tokenizers.Tokenizer:
    """The same file with nothing put before a text, changed by hand."""
    state = json.loads(form)
    if state["pre_tokenizer"] == WITH_PREFIX:
        state["pre_tokenizer"]["add_prefix_space"] = False
    if (state["normalizer"] or {}).get("type") == "Sequence":
        state["normalizer"]["normalizers"].pop(0)
    return tokenizers.Tokenizer.from_str(json.dumps(state))


@pytest.mark.parametrize("name", FORMS)
@given(text=texts, specials=st.booleans())
def test_a_fragment_has_the_ids_of_the_file_without_a_prefix(
    tmp_path_factory: pytest.TempPathFactory, name: str, text: str, specials: bool
) -> None:
    folder = tmp_path_factory.getbasetemp() / f"fragments-{name.replace(' ', '-')}"
    ours = tokenizer_from_folder(write_folder(folder, FORMS[name]), {})
    theirs = without_prefix(FORMS[name])
    theirs.encode_special_tokens = not specials
    ids = ours.encode(text, specials=specials, continues=True)
    assert ids == theirs.encode(text, add_special_tokens=False).ids


@pytest.fixture(scope="module")
def keeps_spaces(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    """The byte-level form, its added tokens without a flag that would take white space."""
    state = json.loads(byte_level(normalizer=None))
    for token in state["added_tokens"]:
        token.update(lstrip=False, rstrip=False)
    return tokenizer_from_folder(
        write_folder(tmp_path_factory.mktemp("keeps"), json.dumps(state)), {}
    )


@given(text=texts, specials=st.booleans())
def test_bytes_join_to_the_text(keeps_spaces: Tokenizer, text: str, specials: bool) -> None:
    ids = keeps_spaces.encode(text, specials=specials)
    assert b"".join(map(keeps_spaces.token_bytes, ids)) == text.encode()


def test_only_the_space_that_a_token_takes_is_lost(
    both: tuple[Tokenizer, tokenizers.Tokenizer],
) -> None:
    ours, _ = both
    ids = ours.encode("a <|both|> a", specials=True, continues=True)
    assert ours.decode(ids) == "a<|both|>a"


def test_phi_3s_turn_marks_take_the_space_after_them_as_its_tokenizer_json_says() -> None:
    metadata = sentencepiece_metadata()
    metadata["general.architecture"] = "phi3"
    for name in ("<|end|>", "<|endoftext|>"):
        metadata["tokenizer.ggml.tokens"].append(name)
        metadata["tokenizer.ggml.token_type"].append(3)
        metadata["tokenizer.ggml.scores"].append(0.0)
    phi = tokenizer_from_gguf(Path("phi.gguf"), metadata)
    other = tokenizer_from_gguf(Path("m.gguf"), metadata | {"general.architecture": "llama"})
    for text, kept in (
        ("<|end|>\n the", "<|end|>the"),
        ("<|endoftext|> the", None),
        ("</s> n", "</s>n"),
    ):
        whole = text if kept is None else kept
        assert phi.decode(phi.encode(text, specials=True, continues=True)) == whole
        assert other.decode(other.encode(text, specials=True, continues=True)) == text


def test_a_user_defined_token_of_a_gguf_keeps_the_white_space_around_it() -> None:
    metadata = sentencepiece_metadata(add_space_prefix=False)
    tokenizer = tokenizer_from_gguf(Path("m.gguf"), metadata)
    for text in ("a <tool> a", "\n<tool>\n", "  <tool>"):
        assert tokenizer.decode(tokenizer.encode(text)) == text
        assert 259 in tokenizer.encode(text)
