"""A tokenizer from the metadata of a GGUF file.

Keys, all under ``tokenizer.ggml.``: ``model`` is the algorithm (``gpt2``: byte-level BPE,
``llama``: SentencePiece BPE), ``tokens`` each token's spelling, ``token_type`` what each is;
``merges`` and ``pre`` belong to ``gpt2``, ``scores`` and ``add_space_prefix`` to ``llama``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import tokenizers
from tokenizers import decoders, models, normalizers

from tokenloop_models.errors import ModelError, quoted
from tokenloop_models.file_kinds import shown
from tokenloop_models.tokenizer.gguf_vocabulary import (
    CONTROL,
    NORMAL,
    PREFIX,
    UNKNOWN,
    UNUSED,
    USER_DEFINED,
    GgufVocabulary,
)
from tokenloop_models.tokenizer.library import faults_as
from tokenloop_models.tokenizer.merges import merges_from_scores
from tokenloop_models.tokenizer.pre_splits import PRE_SPLITS
from tokenloop_models.tokenizer.spelling import SPACE_MARK, byte_level, sentencepiece
from tokenloop_models.tokenizer.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

END_TOKENS = (
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|im_end|>",
    "<|eot_id|>",
    "<|eom_id|>",
    "<|end|>",
    "<|return|>",
    "<end_of_turn>",
    "<EOT>",
    "</s>",
)
"""Control tokens that end a text whatever ``eos_token_id`` says: chat models have several."""

LONGEST_PIECE = 1_000
"""Letters of a SentencePiece token: it is tried to be cut after each. SentencePiece's own limit,
where the training asks for no other, is 16."""

SPM_DEFAULTS = {"unknown": 0, "bos": 1, "eos": 2}
"""Ids that SentencePiece gives where a file doesn't say (llama.cpp assumes the same)."""


def tokenizer_from_gguf(path: Path, metadata: Mapping[str, Any]) -> Tokenizer:
    """Build the tokenizer that a GGUF file describes.

    Args:
        path: the file, for errors.
        metadata: all its keys; arrays as lists.

    Raises:
        ModelError: a key is missing or says something that isn't known.
    """
    model = metadata.get(f"{PREFIX}model")
    builders = {"gpt2": _byte_level, "llama": _sentencepiece}
    if not isinstance(model, str) or model not in builders:
        problem = f"{quoted(model)} is not known; {' and '.join(builders)} are"
        raise ModelError(f"{shown(path)}: {PREFIX}model: {problem}")
    return builders[model](path, metadata)


def _byte_level(path: Path, metadata: Mapping[str, Any]) -> Tokenizer:
    vocabulary = GgufVocabulary(path, metadata)
    name = vocabulary.metadata.get(f"{PREFIX}pre")
    if not isinstance(name, str) or name not in PRE_SPLITS:
        said = "is missing" if name is None else f"{quoted(name)} is not known"
        raise vocabulary.error("pre", f"{said}; known are {', '.join(PRE_SPLITS)}")
    split = PRE_SPLITS[name]
    merges = [tuple(merge.split(" ")) for merge in vocabulary.listed("merges", str)]
    odd = next((n for n, merge in enumerate(merges) if len(merge) != 2), None)
    if odd is not None:
        problem = f"entry {odd} is {quoted(' '.join(merges[odd]))}; two parts are needed"
        raise vocabulary.error("merges", problem)
    model = _bpe(vocabulary, merges, ignore_merges=split.whole_words)
    backend = tokenizers.Tokenizer(model)
    if split.composed:
        backend.normalizer = split.normalizer()
    backend.pre_tokenizer = split.pre_tokenizer()
    backend.decoder = decoders.ByteLevel()
    vocabulary.add_to(backend)
    return _tokenizer(
        vocabulary,
        backend,
        backend,
        byte_level,
        bos_id=vocabulary.token_id("bos"),
        eos_id=vocabulary.token_id("eos"),
        add_bos=vocabulary.flag("add_bos_token", split.add_bos),
        notices=[str(vocabulary.error("pre", f"{quoted(name)} {split.doubtful}"))]
        if split.doubtful
        else [],
    )


def _sentencepiece(path: Path, metadata: Mapping[str, Any]) -> Tokenizer:
    vocabulary = GgufVocabulary(path, metadata, written=_with_spaces)
    for key in ("precompiled_charsmap", "remove_extra_whitespaces"):
        if vocabulary.metadata.get(PREFIX + key):
            raise vocabulary.error(key, "this way to change a text first is not known")
    scores: list[float] = vocabulary.listed("scores", float, len(vocabulary.tokens))
    normal = vocabulary.of_type(NORMAL)
    _check_pieces(vocabulary, normal, scores)
    merges = merges_from_scores({vocabulary.tokens[each]: scores[each] for each in normal})
    unknown = vocabulary.token_id("unknown", SPM_DEFAULTS["unknown"])
    model = _bpe(
        vocabulary,
        merges,
        byte_fallback=True,
        fuse_unk=True,
        unk_token=None if unknown is None else vocabulary.tokens[unknown],
    )
    fragments = tokenizers.Tokenizer(model)
    fragments.normalizer = normalizers.Replace(" ", SPACE_MARK)
    eats_spaces = _eat_spaces(vocabulary)
    vocabulary.add_to(fragments, eats_spaces=eats_spaces)
    backend = fragments
    if vocabulary.flag("add_space_prefix", True):
        backend = tokenizers.Tokenizer(model)
        prefix = normalizers.Prepend(SPACE_MARK)
        backend.normalizer = normalizers.Sequence([prefix, normalizers.Replace(" ", SPACE_MARK)])
        vocabulary.add_to(backend, eats_spaces=eats_spaces)
    return _tokenizer(
        vocabulary,
        backend,
        fragments,
        sentencepiece,
        bos_id=vocabulary.token_id("bos", SPM_DEFAULTS["bos"]),
        eos_id=vocabulary.token_id("eos", SPM_DEFAULTS["eos"]),
        add_bos=vocabulary.flag("add_bos_token", True),
    )


def _check_pieces(
    vocabulary: GgufVocabulary, normal: Sequence[int], scores: Sequence[float]
) -> None:
    """Refuse what merges can't be made from: no order, or cuts of a token without end."""
    if any(map(math.isnan, scores)):
        unordered = next(n for n, score in enumerate(scores) if math.isnan(score))
        raise vocabulary.error("scores", f"entry {unordered} is NaN; a number is needed")
    longest = max(normal, key=lambda n: len(vocabulary.tokens[n]), default=None)
    if longest is not None and (letters := len(vocabulary.tokens[longest])) > LONGEST_PIECE:
        problem = f"entry {longest} has {letters:,} letters; at most {LONGEST_PIECE:,} are allowed"
        raise vocabulary.error("tokens", problem)


def _with_spaces(token: str) -> str:
    """Return how a user-defined token stands in a text; a file may have it with marks or spaces.

    Gemma's are runs of spaces and line breaks, which SentencePiece finds before it merges.
    """
    return token.replace(SPACE_MARK, " ")


def _eat_spaces(vocabulary: GgufVocabulary) -> set[int]:
    """Return the tokens that take the white space after them with them: Phi-3's turn marks.

    A ``tokenizer.json`` says so of each (``rstrip``), a GGUF can't; llama.cpp has the same rule.
    """
    if vocabulary.metadata.get("general.architecture") != "phi3":
        return set()
    plain = {vocabulary.ids.get(text) for text in ("<unk>", "<s>", "<|endoftext|>")}
    eating = {*vocabulary.of_type(CONTROL), vocabulary.ids.get("</s>")} - plain
    return {token_id for token_id in eating if token_id is not None}


def _bpe(vocabulary: GgufVocabulary, merges: list[Any], **options: Any) -> models.BPE:
    with faults_as(f"{shown(vocabulary.path)}: {PREFIX}merges: don't fit the tokens"):
        return models.BPE(vocab=vocabulary.ids, merges=merges, **options)


def _tokenizer(
    vocabulary: GgufVocabulary,
    backend: tokenizers.Tokenizer,
    fragments: tokenizers.Tokenizer,
    spelling: Any,
    *,
    bos_id: int | None,
    eos_id: int | None,
    add_bos: bool,
    notices: Sequence[str] = (),
) -> Tokenizer:
    controls = set(vocabulary.of_type(CONTROL))
    named = [eos_id, vocabulary.token_id("eot"), vocabulary.token_id("eom")]
    by_text = [vocabulary.ids.get(text) for text in END_TOKENS]
    ends = named + [token_id for token_id in by_text if token_id in controls]
    if add_bos and bos_id is None:
        raise vocabulary.error("bos_token_id", "is missing; add_bos_token asks for it")
    unused = set(vocabulary.of_type(UNUSED))
    return Tokenizer(
        backend,
        fragments,
        [None if token_id in unused else token for token_id, token in enumerate(vocabulary.tokens)],
        spelling,
        specials=[*controls, *vocabulary.of_type(UNKNOWN)],
        literals=vocabulary.of_type(USER_DEFINED),
        bos_id=bos_id,
        eos_ids=list(dict.fromkeys(token_id for token_id in ends if token_id is not None)),
        add_bos=add_bos,
        notices=notices,
    )
