"""A tokenizer from ``vocab.json`` and ``merges.txt``, GPT-2's own two files.

Models from before ``tokenizer.json`` (OPT's among them) have only these. They hold the vocabulary
and the merges, not the cut into words: that it is GPT-2's is said by ``tokenizer_config.json``,
whose ``tokenizer_class`` names the program that reads them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import tokenizers
from tokenizers import AddedToken, decoders, models, pre_tokenizers

from tokenloop_models.errors import ModelError, quoted
from tokenloop_models.file_kinds import read_small, shown
from tokenloop_models.safetensors_checkpoint import inside
from tokenloop_models.strict_json import MAX_BYTES, read_object
from tokenloop_models.tokenizer.library import faults_as

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

VOCABULARY, MERGES = "vocab.json", "merges.txt"
READERS = ("GPT2Tokenizer", "GPT2TokenizerFast")
NAMED = ("bos_token", "eos_token", "unk_token", "pad_token")


def read_gpt2_files(folder: Path, said: Mapping[str, Any]) -> tokenizers.Tokenizer | None:
    """Build the tokenizer of a folder that has GPT-2's files.

    Args:
        folder: of the model.
        said: the content of its ``tokenizer_config.json``.

    Returns:
        The library's tokenizer; ``None`` where the folder has no such files.

    Raises:
        ModelError: the files are damaged, or are to be read by another program than GPT-2's.
    """
    if not (folder / VOCABULARY).exists() or not (folder / MERGES).exists():
        return None
    reader = said.get("tokenizer_class")
    if reader not in READERS:
        problem = f"{quoted(reader)}; {VOCABULARY} and {MERGES} are read as {READERS[0]} reads them"
        raise ModelError(f"{shown(folder / 'tokenizer_config.json')}: tokenizer_class: {problem}")
    vocabulary = _vocabulary(inside(folder, VOCABULARY))
    merges = _merges(inside(folder, MERGES))
    with faults_as(f"{shown(folder / MERGES)}: don't fit {VOCABULARY}"):
        backend = tokenizers.Tokenizer(models.BPE(vocab=vocabulary, merges=merges))
    prefix = said.get("add_prefix_space") is True
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=prefix, use_regex=True)
    backend.decoder = decoders.ByteLevel()
    named = dict.fromkeys(_text(said.get(key)) for key in NAMED)
    backend.add_special_tokens(
        [AddedToken(text, special=True, normalized=False) for text in named if text in vocabulary]
    )
    return backend


def _vocabulary(path: Path) -> dict[str, int]:
    vocabulary = read_object(path)
    for token, token_id in vocabulary.items():
        if type(token_id) is not int or token_id < 0:
            raise ModelError(f"{shown(path)}: {quoted(token)}: {quoted(token_id)} is no token id")
    return vocabulary


def _merges(path: Path) -> list[tuple[str, str]]:
    try:
        lines = read_small(path, MAX_BYTES).decode("utf-8").split("\n")
    except UnicodeDecodeError:
        raise ModelError(f"{shown(path)}: is not UTF-8") from None
    merges = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or (number == 1 and line.startswith("#version")):
            continue
        left, _, right = line.rstrip("\r").partition(" ")
        if not left or not right or " " in right:
            raise ModelError(
                f"{shown(path)}: line {number:,}: {quoted(line)}: two parts are needed"
            )
        merges.append((left, right))
    return merges


def _text(token: object) -> str:
    text = token.get("content") if isinstance(token, dict) else token
    return text if isinstance(text, str) else ""
