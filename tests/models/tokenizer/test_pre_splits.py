"""Each cut into words against the published patterns, run by another regular-expression engine."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable

import pytest
import regex

from tests.models.tokenizer.sweeps import sweeps
from tests.models.tokenizer.twins import (
    DEEPSEEK_CJK,
    DEEPSEEK_WORDS,
    GPT_4,
    GPT_4O,
    PUBLISHED,
    QWEN_2,
    TEKKEN,
)
from tokenloop_models.tokenizer.pre_splits import PRE_SPLITS
from tokenloop_models.tokenizer.spelling import BYTE_OF_LETTER

Cut = Callable[[str], Iterable[str]]

LETTER_OF_BYTE = {byte: letter for letter, byte in BYTE_OF_LETTER.items()}
GPT_2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
ASCII_PUNCTUATION = r"!-/:-@\[-`{-~"


def in_turn(*patterns: str) -> Cut:
    """Cut by each pattern in turn: a match is a piece, and so is what lies between two."""
    compiled = [regex.compile(f"({pattern})") for pattern in patterns]

    def cut(text: str) -> Iterable[str]:
        pieces = [text]
        for pattern in compiled:
            pieces = [
                part for piece in pieces for match in _with_gaps(pattern, piece) if (part := match)
            ]
        return pieces

    return cut


def _with_gaps(pattern: regex.Pattern[str], text: str) -> Iterable[str]:
    end = 0
    for match in pattern.finditer(text):
        yield text[end : match.start()]
        yield match[0]
        end = match.end()
    yield text[end:]


def falcon(text: str) -> Iterable[str]:
    """Its last two steps see the byte alphabet, in which some bytes look like numbers."""
    for piece in in_turn(rf"[\p{{P}}{ASCII_PUNCTUATION}]+", GPT_2)(text):
        for part in re.findall("[0-9²³¹¼½¾]+|[^0-9²³¹¼½¾]+", spelled(piece)):
            yield from filter(None, re.split("([0-9]{3})", part))


def spelled(piece: str) -> str:
    return "".join(LETTER_OF_BYTE[byte] for byte in piece.encode())


def composed(cut: Cut) -> Cut:
    return lambda text: cut(unicodedata.normalize("NFC", text))


CUTS: dict[str, Cut] = {
    "gpt-2": in_turn(GPT_2),
    "phi-2": in_turn(GPT_2),
    "olmo": composed(in_turn(GPT_2)),
    "smollm": in_turn(r"\p{N}", GPT_2),
    "starcoder": in_turn(r"\p{N}", GPT_2),
    "refact": in_turn(r"\p{N}", GPT_2),
    "command-r": composed(in_turn(r"\p{N}", GPT_2)),
    "dbrx": in_turn(GPT_4),
    "llama-bpe": in_turn(GPT_4),
    "llama3": in_turn(GPT_4),
    "llama-v3": in_turn(GPT_4),
    "smaug-bpe": in_turn(GPT_4),
    "qwen2": composed(in_turn(QWEN_2)),
    "stablelm2": composed(in_turn(QWEN_2)),
    "deepseek-r1-qwen": in_turn(QWEN_2),
    "tekken": in_turn(TEKKEN),
    "gpt-4o": in_turn(GPT_4O),
    "deepseek-llm": in_turn(
        r"[\r\n]",
        DEEPSEEK_WORDS,
        "\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+",
        r"\s+$",
        DEEPSEEK_CJK,
        r"\p{N}",
    ),
    "deepseek-coder": in_turn(r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", DEEPSEEK_CJK, r"\p{N}"),
    "default": in_turn(r"[\p{P}\$\+<=>\^~\|]+", GPT_2, r"\p{N}+", "[0-9][0-9][0-9]"),
}

# Characters that editions of Unicode file differently; both engines and the step that falcon's
# cut begins with (the oldest) have an edition of their own.
MOVED = {"\u0295"}
MOVED_PUNCTUATION = {"\u166d", "\U000111c9"}


def is_newer_punctuation(character: str) -> bool:
    """Whether it came after the edition that the library's Punctuation step knows."""
    old = unicodedata.ucd_3_2_0.category(character)
    return unicodedata.category(character)[0] == "P" and old == "Cn"


def comparable(name: str, text: str) -> str:
    leave_out = set(MOVED)
    if name == "falcon":
        leave_out |= MOVED_PUNCTUATION | set(filter(is_newer_punctuation, text))
    return "".join(character for character in text if character not in leave_out)


@pytest.mark.parametrize("name", PRE_SPLITS)
def test_it_cuts_as_the_published_patterns_do(name: str) -> None:
    split, normalizer = PRE_SPLITS[name].pre_tokenizer(), PRE_SPLITS[name].normalizer()
    for text in sweeps():
        text = comparable(name, text)
        ready = normalizer.normalize_str(text) if normalizer else text
        ours = [piece for piece, _ in split.pre_tokenize_str(ready)]
        theirs = list(falcon(text) if name == "falcon" else map(spelled, CUTS[name](text)))
        assert ours == theirs


def test_every_cut_of_the_table_is_looked_at() -> None:
    assert {*CUTS, "falcon"} == PRE_SPLITS.keys()
    same_as = {"llama3": "llama-bpe", "llama-v3": "llama-bpe"}
    for alias, name in same_as.items():
        assert PRE_SPLITS[alias] == PRE_SPLITS[name]
    assert PUBLISHED.keys() == PRE_SPLITS.keys() - same_as.keys() - {"default"}


@pytest.mark.parametrize(
    ("name", "text", "pieces"),
    [
        ("gpt-2", "a 123456", "a|Ġ123456"),
        ("smollm", "a 123", "a|Ġ|1|2|3"),
        ("llama-bpe", "a 12345", "a|Ġ|123|45"),
        ("qwen2", "WE'RE 12", "WE|'RE|Ġ|1|2"),
        ("gpt-2", "WE'RE", "WE|'|RE"),
        ("tekken", "camelCase a/b/", "camel|Case|Ġa|/b|/"),
        ("gpt-4o", "don't HTTPServer", "don't|ĠHTTPServer"),
        ("falcon", "12345, м", "123|45|,|ĠÐ|¼"),
        ("deepseek-llm", "it's 12\n 日x", "it|'|s|Ġ|1|2|Ċ|Ġ|æĹ¥|x"),
        ("default", "it's 1234?", "it|'|s|Ġ|123|4|?"),
    ],
)
def test_what_tells_the_cuts_apart(name: str, text: str, pieces: str) -> None:
    cut = PRE_SPLITS[name].pre_tokenizer().pre_tokenize_str(text)
    assert "|".join(piece for piece, _ in cut) == pieces
