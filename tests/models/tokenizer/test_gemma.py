"""Gemma's vocabulary: SentencePiece without a prefix space, with runs of spaces as own tokens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from hypothesis import given
from hypothesis import strategies as st

from tests.models.tokenizer.sweeps import sweeps
from tests.models.tokenizer.twins import write_folder
from tokenloop_models.tokenizer import Tokenizer
from tokenloop_models.tokenizer.from_gguf import tokenizer_from_gguf
from tokenloop_models.tokenizer.from_json import tokenizer_from_folder

CONTROLS = ["<pad>", "<eos>", "<bos>", "<start_of_turn>", "<end_of_turn>"]
LONGEST_RUN = 31
RUNS = ["▁" * n for n in range(2, LONGEST_RUN + 1)]
LINES = ["\n\n", "\n\n\n"]
MARKUP = ["<table>", "</table>"]
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
MERGED = ["he", "▁t", "▁the", "in", "▁a", "ing", "\nt"]
SINGLE = ["▁", "\n", *"abcdefghijklmnopqrstuvwxyz.,é日"]
TOKENS = [*CONTROLS, "<unk>", *RUNS, *LINES, *MARKUP, *BYTES, *MERGED, *SINGLE]
IDS = {token: n for n, token in enumerate(TOKENS)}

# As converters have written the runs: the oldest as any piece, later ones as user-defined tokens
# with the marks, the newest with real spaces.
STYLES = ("pieces", "marks", "spaces")

spaced = st.text("the in.\n\t<é日😀", max_size=LONGEST_RUN) | st.text().filter(
    lambda text: "▁" not in text
)


def metadata(style: str) -> dict[str, Any]:
    kinds = dict.fromkeys(TOKENS, 1) | dict.fromkeys(CONTROLS, 3) | {"<unk>": 2}
    kinds |= dict.fromkeys(BYTES, 6) | dict.fromkeys(LINES + MARKUP, 4)
    kinds |= dict.fromkeys(RUNS, 1 if style == "pieces" else 4)
    spelled = {run: run.replace("▁", " ") if style == "spaces" else run for run in RUNS}
    scores = dict.fromkeys(TOKENS, 0.0) | dict.fromkeys(SINGLE, -1000.0)
    scores |= {piece: -1.0 - rank for rank, piece in enumerate(MERGED)}
    listed = {
        "model": "llama",
        "tokens": [spelled.get(token, token) for token in TOKENS],
        "token_type": [kinds[token] for token in TOKENS],
        "scores": [scores[token] for token in TOKENS],
        "bos_token_id": 2,
        "eos_token_id": 1,
        "unknown_token_id": IDS["<unk>"],
        "add_bos_token": True,
        "add_space_prefix": False,
    }
    return {f"tokenizer.ggml.{key}": value for key, value in listed.items()}


def published_json() -> str:
    """In the shape of Gemma's own tokenizer.json."""
    flags = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    added = [*CONTROLS, "<unk>", *RUNS, *LINES, *MARKUP]
    merges = [
        ("▁" * left, "▁" * (run - left))
        for run in range(2, LONGEST_RUN + 1)
        for left in range(1, run)
    ]
    merges += [("h", "e"), ("▁", "t"), ("▁t", "he"), ("i", "n"), ("▁", "a"), ("in", "g")]
    merges += [("\n", "t")]
    return json.dumps(
        {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [
                {"id": IDS[text], "content": text, "special": text in CONTROLS, **flags}
                for text in added
            ],
            "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
            "pre_tokenizer": {
                "type": "Split",
                "pattern": {"String": " "},
                "behavior": "MergedWithPrevious",
                "invert": False,
            },
            "post_processor": None,
            "decoder": {
                "type": "Sequence",
                "decoders": [
                    {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                    {"type": "ByteFallback"},
                    {"type": "Fuse"},
                ],
            },
            "model": {
                "type": "BPE",
                "unk_token": "<unk>",
                "fuse_unk": True,
                "byte_fallback": True,
                "vocab": IDS,
                "merges": [list(pair) for pair in merges],
            },
        }
    )


@pytest.fixture(scope="module")
def reference() -> tokenizers.Tokenizer:
    backend = tokenizers.Tokenizer.from_str(published_json())
    backend.encode_special_tokens = True
    return backend


@pytest.fixture(scope="module")
def from_folder(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    said = {"bos_token": "<bos>", "eos_token": "<eos>", "add_bos_token": True}
    folder = write_folder(tmp_path_factory.mktemp("gemma"), published_json(), tokenizer_config=said)
    return tokenizer_from_folder(folder, {})


@pytest.fixture(scope="module", params=STYLES)
def tokenizer(request: pytest.FixtureRequest) -> Tokenizer:
    return tokenizer_from_gguf(Path("gemma.gguf"), metadata(request.param))


@given(text=spaced)
def test_a_gguf_of_any_age_cuts_as_the_published_file(
    tokenizer: Tokenizer, from_folder: Tokenizer, reference: tokenizers.Tokenizer, text: str
) -> None:
    ids = reference.encode(text, add_special_tokens=False).ids
    for one in (tokenizer, from_folder):
        for continues in (False, True):
            assert one.encode(text, continues=continues) == ids
        assert b"".join(map(one.token_bytes, ids)) == text.encode()


def test_ids_equal_the_published_ones_over_unicode_digits_code_and_emoji(
    tokenizer: Tokenizer, reference: tokenizers.Tokenizer
) -> None:
    for text in sweeps():
        text = text.replace("▁", "")
        ids = tokenizer.encode(text)
        assert ids == reference.encode(text, add_special_tokens=False).ids
        assert b"".join(map(tokenizer.token_bytes, ids)) == text.encode()


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("the", ["t", "he"]),
        (" the", ["▁the"]),
        ("  the", ["▁▁", "t", "he"]),
        ("   the", ["▁▁▁", "t", "he"]),
        ("a       the", ["a", "▁" * 7, "t", "he"]),
        ("a\n\n\n\nt", ["a", "\n\n\n", "\nt"]),
        ("<table> the", ["<table>", "▁the"]),
    ],
)
def test_runs_and_marks_are_tokens_of_their_own(
    tokenizer: Tokenizer, from_folder: Tokenizer, text: str, pieces: list[str]
) -> None:
    ids = [IDS[piece] for piece in pieces]
    assert (tokenizer.encode(text), from_folder.encode(text)) == (ids, ids)
    assert tokenizer.decode(ids) == from_folder.decode(ids) == text


@pytest.mark.parametrize("style", ["marks", "spaces"])
def test_of_a_longer_run_the_longest_token_comes_first(style: str) -> None:
    """As in SentencePiece itself; merging by pairs would end in other lengths."""
    tokenizer = tokenizer_from_gguf(Path("gemma.gguf"), metadata(style))
    assert tokenizer.encode(" " * 40) == [IDS["▁" * 31], IDS["▁" * 9]]


def test_what_begins_and_ends_a_text(tokenizer: Tokenizer, from_folder: Tokenizer) -> None:
    for one in (tokenizer, from_folder):
        assert (one.bos_id, one.eos_ids[0], one.add_bos) == (2, 1, True)
        assert one.encode("<end_of_turn>", specials=True) == [IDS["<end_of_turn>"]]
        assert one.encode("<end_of_turn>") != [IDS["<end_of_turn>"]]
