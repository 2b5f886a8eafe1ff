"""One small vocabulary in both forms: as a tokenizer.json and as the metadata of a GGUF."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import tokenizers
from tokenizers import models, trainers

if TYPE_CHECKING:
    from pathlib import Path

SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
WORDS = {**BYTE_LEVEL, "use_regex": True}
LETTERS = {**BYTE_LEVEL, "use_regex": False}
EACH_DIGIT = {"type": "Digits", "individual_digits": True}
NFC = {"type": "NFC"}


def _isolated(pattern: str) -> dict[str, Any]:
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated"}
    return split | {"invert": False}


def _matches_only(pattern: str) -> dict[str, Any]:
    """How files that came from tiktoken's say the same: what matches stays, the rest is removed."""
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Removed"}
    return split | {"invert": True}


def _in_turn(*parts: dict[str, Any]) -> dict[str, Any]:
    return {"type": "Sequence", "pretokenizers": list(parts)}


GPT_4 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
QWEN_2 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|"
    r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
TEKKEN = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|"
    r"\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
GPT_4O = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?|"
    r"\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
DEEPSEEK_WORDS = (
    r"\s?[A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293"
    r"\u0295-\u02af\u0370-\u0373\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c"
    r"\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-\u052f\u0531-\u0556\u10a0-\u10c5"
    r"\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-\u1d77"
    r"\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59"
    r"\u1f5b\u1f5d\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc"
    r"\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107"
    r"\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-\u212d\u212f-\u2134\u2139"
    r"\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-\u2cee"
    r"\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e"
    r"\uab70-\uabbf\ufb00-\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a"
    "\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8-\U000104fb\U00010c80-\U00010cb2"
    "\U00010cc0-\U00010cf2\U000118a0-\U000118df\U0001e900-\U0001e943]+"
)
DEEPSEEK_CJK = "[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+"

# What the tokenizer.json of each model says, as published.
PUBLISHED: dict[str, dict[str, Any]] = {
    "gpt-2": {"pre_tokenizer": WORDS},
    "phi-2": {"pre_tokenizer": WORDS},
    "olmo": {"normalizer": NFC, "pre_tokenizer": WORDS},
    "smollm": {"pre_tokenizer": _in_turn(EACH_DIGIT, WORDS)},
    "starcoder": {"pre_tokenizer": _in_turn(EACH_DIGIT, WORDS)},
    "refact": {"pre_tokenizer": _in_turn(EACH_DIGIT, WORDS)},
    "command-r": {"normalizer": NFC, "pre_tokenizer": _in_turn(EACH_DIGIT, WORDS)},
    "llama-bpe": {"pre_tokenizer": _in_turn(_isolated(GPT_4), LETTERS), "ignore_merges": True},
    "smaug-bpe": {"pre_tokenizer": _in_turn(_isolated(GPT_4), LETTERS), "ignore_merges": True},
    "dbrx": {"pre_tokenizer": _in_turn(_matches_only(GPT_4), LETTERS)},
    "qwen2": {"normalizer": NFC, "pre_tokenizer": _in_turn(_isolated(QWEN_2), LETTERS)},
    "stablelm2": {"normalizer": NFC, "pre_tokenizer": _in_turn(_matches_only(QWEN_2), LETTERS)},
    "deepseek-r1-qwen": {"pre_tokenizer": _in_turn(_isolated(QWEN_2), LETTERS)},
    "tekken": {"pre_tokenizer": _in_turn(_isolated(TEKKEN), LETTERS), "ignore_merges": True},
    "gpt-4o": {"pre_tokenizer": _in_turn(_matches_only(GPT_4O), LETTERS)},
    "falcon": {
        "pre_tokenizer": _in_turn(
            {"type": "Punctuation", "behavior": "Contiguous"},
            WORDS,
            {"type": "Digits", "individual_digits": False},
            _isolated("[0-9][0-9][0-9]"),
        )
    },
    "deepseek-llm": {
        "pre_tokenizer": _in_turn(
            _isolated(r"[\r\n]"),
            _isolated(DEEPSEEK_WORDS),
            _isolated("\\s?[!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002]+"),
            _isolated(r"\s+$"),
            _isolated(DEEPSEEK_CJK),
            EACH_DIGIT,
            LETTERS,
        )
    },
    "deepseek-coder": {
        "pre_tokenizer": _in_turn(
            _isolated(r"[\r\n]"),
            _isolated(r"\s?\p{L}+"),
            _isolated(r"\s?\p{P}+"),
            _isolated(DEEPSEEK_CJK),
            EACH_DIGIT,
            LETTERS,
        )
    },
}

TEXTS = [
    "The capital of Australia is Canberra. Once upon a time, in 1984, there lived a princess.",
    "def f(x):\n    return x ** 2  # 123456\n\n\tif x == 10: pass\r\n",
    "I'm sure they'll say WE'RE DONE, don't they've? it's 3.14159 or 2,718",
    "naïve café, 日本語のテキスト, Привет, 😀👍🏽, e\u0301cole",
    "   spaces   and\n\n\nlines   ",
] * 4


@cache
def byte_level_json(pre: str) -> str:
    """A byte-level vocabulary trained on the texts, cut as the family was published."""
    published = dict(PUBLISHED[pre])
    ignore_merges = published.pop("ignore_merges", False)
    backend = tokenizers.Tokenizer(models.BPE())
    state = json.loads(backend.to_str()) | published | {"decoder": WORDS}
    backend = tokenizers.Tokenizer.from_str(json.dumps(state))
    alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=SPECIALS, initial_alphabet=alphabet, show_progress=False
    )
    backend.train_from_iterator(TEXTS, trainer)
    state = json.loads(backend.to_str())
    state["model"]["ignore_merges"] = ignore_merges
    return json.dumps(state)


def gguf_metadata(tokenizer_json: str, pre: str) -> dict[str, Any]:
    """The same vocabulary as a GGUF file lists it."""
    state = json.loads(tokenizer_json)
    vocabulary: dict[str, int] = state["model"]["vocab"]
    tokens = sorted(vocabulary, key=lambda token: vocabulary[token])
    return {
        "tokenizer.ggml.model": "gpt2",
        "tokenizer.ggml.pre": pre,
        "tokenizer.ggml.tokens": tokens,
        "tokenizer.ggml.token_type": [3 if token in SPECIALS else 1 for token in tokens],
        "tokenizer.ggml.merges": [" ".join(pair) for pair in state["model"]["merges"]],
        "tokenizer.ggml.bos_token_id": 1,
        "tokenizer.ggml.eos_token_id": 2,
    }


PIECES = ["▁", "t", "h", "e", "▁t", "he", "▁the", "n", "▁n", "en", "▁then", "a", "an", "▁▁"]
"""Text of a SentencePiece vocabulary, best score first; ids follow the special and byte tokens."""


def sentencepiece_metadata(**changes: Any) -> dict[str, Any]:
    """A SentencePiece vocabulary with byte fallback, as a GGUF file lists it."""
    names = ["<unk>", "<s>", "</s>"]
    fallback = [f"<0x{byte:02X}>" for byte in range(256)]
    user = ["<tool>"]
    merged = [piece for piece in PIECES if len(piece) > 1]
    # SentencePiece scores only what merging makes; single letters come last.
    scores = {piece: -float(rank) for rank, piece in enumerate(merged)}
    listed = {
        "tokens": names + fallback + user + PIECES,
        "token_type": [2, 3, 3] + [6] * 256 + [4] + [1] * len(PIECES),
        "scores": [0.0] * 260 + [scores.get(piece, -1000.0) for piece in PIECES],
        "model": "llama",
        "bos_token_id": 1,
        "eos_token_id": 2,
    }
    return {f"tokenizer.ggml.{key}": value for key, value in (listed | changes).items()}


def sentencepiece_json(metadata: dict[str, Any], merges: list[tuple[str, str]]) -> str:
    """The same vocabulary in the shape that Llama 2's tokenizer.json was published in."""
    tokens = metadata["tokenizer.ggml.tokens"]
    special = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    added = [(0, True), (1, True), (2, True), (259, False)]
    return json.dumps(
        {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [
                {"id": n, "content": tokens[n], "special": control, **special}
                for n, control in added
            ],
            "normalizer": {
                "type": "Sequence",
                "normalizers": [
                    {"type": "Prepend", "prepend": "▁"},
                    {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
                ],
            },
            "pre_tokenizer": None,
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [
                    {"SpecialToken": {"id": "<s>", "type_id": 0}},
                    {"Sequence": {"id": "A", "type_id": 0}},
                ],
                "pair": [{"Sequence": {"id": "A", "type_id": 0}}],
                "special_tokens": {"<s>": {"id": "<s>", "ids": [1], "tokens": ["<s>"]}},
            },
            "decoder": {
                "type": "Sequence",
                "decoders": [
                    {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
                    {"type": "ByteFallback"},
                    {"type": "Fuse"},
                    {"type": "Strip", "content": " ", "start": 1, "stop": 0},
                ],
            },
            "model": {
                "type": "BPE",
                "unk_token": "<unk>",
                "fuse_unk": True,
                "byte_fallback": True,
                "vocab": {token: n for n, token in enumerate(tokens)},
                "merges": [list(pair) for pair in merges],
            },
        }
    )


def write_folder(folder: Path, tokenizer_json: str, **beside: Any) -> Path:
    """A folder with a tokenizer.json and the files beside it."""
    folder.mkdir(exist_ok=True)
    (folder / "tokenizer.json").write_text(tokenizer_json)
    for name, content in beside.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder
