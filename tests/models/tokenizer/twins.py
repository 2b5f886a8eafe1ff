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


def _split(pattern: str) -> dict[str, Any]:
    split = {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated"}
    parts = [split | {"invert": False}, LETTERS]
    return {"type": "Sequence", "pretokenizers": parts}


# What the tokenizer.json of each model says, as published.
PUBLISHED: dict[str, dict[str, Any]] = {
    "gpt-2": {"pre_tokenizer": WORDS},
    "smollm": {
        "pre_tokenizer": {
            "type": "Sequence",
            "pretokenizers": [{"type": "Digits", "individual_digits": True}, WORDS],
        }
    },
    "llama-bpe": {
        "pre_tokenizer": _split(
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}|"
            r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
        "ignore_merges": True,
    },
    "qwen2": {
        "normalizer": {"type": "NFC"},
        "pre_tokenizer": _split(
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}|"
            r" ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
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
