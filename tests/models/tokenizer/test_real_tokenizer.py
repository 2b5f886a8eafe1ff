"""The default model's own vocabulary."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tokenloop_models.checkpoint import open_checkpoint
from tokenloop_models.tokenizer import Tokenizer, load_tokenizer

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.real

TEXTS = [
    "naïve café 日本 😀",
    "def f(x):\n    return {'a': [1, 22, 333]}  # ünï\r\n\t\tpass\n\n\n",
    "I'm sure they'll say 3.14159 ≈ π; WE'RE DONE…",
    "\x00\x1b[2J\u202e\ufeff ",
    "مرحبا שלום नमस्ते 👩‍👩‍👧‍👦 e\u0301",
]


@pytest.fixture(scope="module")
def tokenizer(real_model_path: Path) -> Tokenizer:
    return load_tokenizer(open_checkpoint(real_model_path))


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("The capital of Australia is", [504, 3575, 282, 4617, 314]),
        ("Once upon a time", [6403, 1980, 253, 655]),
        (" Sydney", [16570]),
        (" Canberra", [40136]),
        ("", []),
    ],
)
def test_the_reference_ids(tokenizer: Tokenizer, text: str, ids: list[int]) -> None:
    assert tokenizer.encode(text) == ids
    assert tokenizer.decode(ids) == text


@pytest.mark.parametrize("text", TEXTS)
def test_token_bytes_join_to_the_texts_utf8(tokenizer: Tokenizer, text: str) -> None:
    ids = tokenizer.encode(text)
    assert b"".join(map(tokenizer.token_bytes, ids)) == text.encode()
    assert tokenizer.decode(ids) == text


def test_every_token_has_bytes(tokenizer: Tokenizer) -> None:
    assert all(tokenizer.token_bytes(token_id) for token_id in range(tokenizer.size))


def test_the_bytes_that_the_vocabulary_lacks_are_left_out(tokenizer: Tokenizer) -> None:
    spelled = {tokenizer.token_bytes(token_id) for token_id in range(tokenizer.size)}
    missing = {byte for byte in range(256) if bytes([byte]) not in spelled}
    never_in_utf8 = {0xC0, 0xC1, *range(0xF5, 0x100)}
    assert missing - never_in_utf8 == {0x04, 0x06, 0x13, 0x14, 0x16, 0x1D, 0xF1, 0xF2}
    assert tokenizer.decode(tokenizer.encode("a\x04b")) == "ab"


def test_digits_are_cut_one_by_one(tokenizer: Tokenizer) -> None:
    assert len(tokenizer.encode("20250101")) == 8


def test_its_specials(tokenizer: Tokenizer) -> None:
    assert (tokenizer.size, tokenizer.bos_id, tokenizer.add_bos) == (49_152, 1, False)
    assert tokenizer.eos_ids == (2, 0)
    assert tokenizer.id_of("<|im_end|>") == 2
    assert tokenizer.encode("<|im_end|>", specials=True) == [2]
    assert 2 not in tokenizer.encode("<|im_end|>")
    assert [token_id for token_id in range(tokenizer.size) if tokenizer.is_special(token_id)] == [
        *range(17)
    ]
