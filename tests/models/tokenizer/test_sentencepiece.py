"""SentencePiece vocabularies, from a GGUF's metadata and from a tokenizer.json."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.models.tokenizer.twins import (
    PIECES,
    sentencepiece_json,
    sentencepiece_metadata,
    write_folder,
)
from tokenloop_models.errors import ModelError
from tokenloop_models.tokenizer import Tokenizer
from tokenloop_models.tokenizer.from_gguf import tokenizer_from_gguf
from tokenloop_models.tokenizer.from_json import tokenizer_from_folder
from tokenloop_models.tokenizer.merges import merges_from_scores

FILE = Path("model.gguf")
METADATA = sentencepiece_metadata()
TOKENS: list[str] = METADATA["tokenizer.ggml.tokens"]
IDS = {token: token_id for token_id, token in enumerate(TOKENS)}
SCORES = dict(zip(TOKENS, METADATA["tokenizer.ggml.scores"], strict=True))

piece_sets = st.sets(st.text("ab▁😀", min_size=1, max_size=5), min_size=1, max_size=30)
known_letters = st.text("then a", max_size=30)
any_text = st.text() | st.text("then a\n<0x>s日é", max_size=30)


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return tokenizer_from_gguf(FILE, METADATA)


@pytest.fixture(scope="module")
def from_json(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    merges = merges_from_scores({piece: SCORES[piece] for piece in PIECES})
    folder = write_folder(
        tmp_path_factory.mktemp("spm"),
        sentencepiece_json(METADATA, merges),
        tokenizer_config={"bos_token": "<s>", "eos_token": {"content": "</s>"}},
    )
    return tokenizer_from_folder(folder, {})


@given(pieces=piece_sets, data=st.data())
def test_merges_are_in_the_order_of_the_reference_ties_too(
    pieces: set[str], data: st.DataObject
) -> None:
    from transformers.tokenization_utils_base import generate_merges

    ids = {piece: n for n, piece in enumerate(sorted(pieces))}
    scores = {piece: data.draw(st.sampled_from([0.0, -1.0, -2.5])) for piece in ids}
    assert merges_from_scores(scores) == generate_merges(ids, scores)


def by_the_book(text: str) -> list[str]:
    """SentencePiece's own algorithm: merge the best-scoring neighbours, the leftmost first."""
    pieces = list(text.replace(" ", "▁"))
    while True:
        scored = [
            (SCORES[left + right], -place)
            for place, (left, right) in enumerate(pairwise(pieces))
            if left + right in PIECES
        ]
        if not scored:
            return pieces
        place = -max(scored)[1]
        pieces[place : place + 2] = ["".join(pieces[place : place + 2])]


@given(text=known_letters)
def test_merges_from_scores_cut_as_the_scores_do(tokenizer: Tokenizer, text: str) -> None:
    expected = [IDS[piece] for piece in by_the_book(text)]
    assert tokenizer.encode(text, continues=True) == expected


@given(text=known_letters.filter(bool))
def test_a_text_begins_with_a_space_and_a_fragment_does_not(
    tokenizer: Tokenizer, text: str
) -> None:
    assert tokenizer.encode(text) == [IDS[piece] for piece in by_the_book(" " + text)]
    assert tokenizer.decode(tokenizer.encode(text)) == " " + text
    assert tokenizer.decode(tokenizer.encode(text, continues=True)) == text


def test_add_space_prefix_is_honoured() -> None:
    bare = tokenizer_from_gguf(FILE, sentencepiece_metadata(add_space_prefix=False))
    assert bare.encode("the") == bare.encode("the", continues=True) == [IDS["t"], IDS["he"]]


@given(text=any_text)
def test_token_bytes_join_to_the_text(tokenizer: Tokenizer, text: str) -> None:
    # SentencePiece can't tell its mark from a space; every vocabulary of its kind loses it.
    ids = tokenizer.encode(text, continues=True)
    assert b"".join(map(tokenizer.token_bytes, ids)) == text.replace("▁", " ").encode()


@given(text=any_text)
def test_a_gguf_cuts_as_the_tokenizer_json(
    tokenizer: Tokenizer, from_json: Tokenizer, text: str
) -> None:
    for continues in (False, True):
        ids = tokenizer.encode(text, continues=continues)
        assert from_json.encode(text, continues=continues) == ids
        assert from_json.decode(ids) == tokenizer.decode(ids)


def test_a_byte_without_a_piece_falls_back(tokenizer: Tokenizer) -> None:
    ids = tokenizer.encode("日\n", continues=True)
    assert [TOKENS[token_id] for token_id in ids] == ["<0xE6>", "<0x97>", "<0xA5>", "<0x0A>"]
    assert [tokenizer.token_bytes(token_id) for token_id in ids] == [
        b"\xe6",
        b"\x97",
        b"\xa5",
        b"\n",
    ]
    assert tokenizer.decode(ids[:2]) == "\ufffd"


@pytest.mark.parametrize("text", ["<s>", "</s>", "<unk>", "<0x0A>"])
def test_a_typed_name_of_a_token_is_plain_text(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text, continues=True)
    assert IDS[text] not in ids
    assert tokenizer.decode(ids) == text


def test_specials_are_recognised_where_asked_for(
    tokenizer: Tokenizer, from_json: Tokenizer
) -> None:
    for one in (tokenizer, from_json):
        ids = one.encode("the<s>the", specials=True)
        assert ids == [IDS["▁the"], IDS["<s>"], IDS["▁the"]]
        assert one.encode("<s>the", specials=True, continues=True) == [1, IDS["t"], IDS["he"]]
        assert [one.is_special(token_id) for token_id in (1, 2, 259, IDS["the"[:1]])] == [
            True,
            True,
            False,
            False,
        ]
        assert one.encode("<tool>", continues=True) == [259]
        assert one.token_bytes(259) == b"<tool>"


def test_what_begins_and_ends_a_text(tokenizer: Tokenizer, from_json: Tokenizer) -> None:
    for one in (tokenizer, from_json):
        assert (one.bos_id, one.eos_ids, one.add_bos) == (1, (2,), True)
        assert one.size == len(TOKENS)


def test_ids_of_begin_and_end_have_sentencepieces_defaults() -> None:
    metadata = sentencepiece_metadata()
    for key in ("bos_token_id", "eos_token_id"):
        del metadata[f"tokenizer.ggml.{key}"]
    tokenizer = tokenizer_from_gguf(FILE, metadata)
    assert (tokenizer.bos_id, tokenizer.eos_ids) == (1, (2,))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"scores": None}, "scores: is missing"),
        ({"scores": [0.0]}, "scores: 1 entries for"),
        (
            {"scores": [*list(SCORES.values())[:-1], float("nan")]},
            f"scores: entry {len(TOKENS) - 1} is",
        ),
        (
            {"tokens": [*TOKENS[:-1], "a" * 1001]},
            f"tokens: entry {len(TOKENS) - 1} has 1,001 letters",
        ),
        ({"remove_extra_whitespaces": True}, "remove_extra_whitespaces: "),
        ({"precompiled_charsmap": [1]}, "precompiled_charsmap: "),
        ({"add_space_prefix": 3}, "add_space_prefix: 3; true or false"),
    ],
)
def test_metadata_that_is_not_known_is_refused_by_key(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ModelError) as caught:
        tokenizer_from_gguf(FILE, sentencepiece_metadata(**changes))
    assert str(caught.value).startswith(f"model.gguf: tokenizer.ggml.{said}")
