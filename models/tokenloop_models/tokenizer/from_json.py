"""A tokenizer from the ``tokenizer.json`` of a checkpoint's folder.

``tokenizer.json`` says how to cut; which tokens begin and end a text stands beside it, in
``tokenizer_config.json``, ``generation_config.json`` and ``config.json``.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import tokenizers
from tokenizers import models, normalizers, pre_tokenizers

from tokenloop_models.errors import ModelError, quoted
from tokenloop_models.file_kinds import read_small, shown, what_it_is
from tokenloop_models.safetensors_checkpoint import inside
from tokenloop_models.strict_json import MAX_BYTES, read_object
from tokenloop_models.tokenizer.from_gpt2_files import read_gpt2_files
from tokenloop_models.tokenizer.library import faults_as
from tokenloop_models.tokenizer.spelling import byte_level, sentencepiece
from tokenloop_models.tokenizer.tokenizer import Tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

MOST_IDS = 1 << 24  # the largest published vocabularies have about 2^18


def tokenizer_from_folder(folder: Path, config: Mapping[str, Any]) -> Tokenizer:
    """Build the tokenizer of a folder.

    Args:
        folder: with ``tokenizer.json`` (or GPT-2's two files) and, where there are any, the files
            beside it.
        config: the content of ``config.json``.

    Raises:
        ModelError: ``tokenizer.json`` is missing, damaged or of a kind that isn't known, or a
            file beside it names a token that isn't there.
    """
    path, beside = folder / "tokenizer.json", folder / "tokenizer_config.json"
    said = _read_if_there(beside)
    if path.exists():
        backend = _read(inside(folder, path.name))
    else:
        found = read_gpt2_files(folder, said)
        if found is None:
            raise ModelError(f"{shown(path)}: is missing; the model's tokenizer is read from it")
        backend = found
    spelling = _spelling(path, backend)
    added = backend.get_added_tokens_decoder()
    bos_id = _named(beside, "bos_token", said, backend)
    add_bos = said.get("add_bos_token")
    if not isinstance(add_bos, bool):
        leading = _leading_token(path, backend)
        add_bos = leading is not None
        bos_id = bos_id if leading is None else leading
    generation = folder / "generation_config.json"
    ends = [
        *_ids(generation, "eos_token_id", _read_if_there(generation)),
        *_ids(folder / "config.json", "eos_token_id", config),
        _named(beside, "eos_token", said, backend),
    ]
    return Tokenizer(
        backend,
        _for_fragments(backend),
        _tokens(path, backend),
        spelling,
        specials=[token_id for token_id, token in added.items() if token.special],
        # Added tokens are text as it stands, not spelled in the byte alphabet.
        literals=added if spelling is byte_level else (),
        bos_id=bos_id,
        eos_ids=list(dict.fromkeys(token_id for token_id in ends if token_id is not None)),
        add_bos=add_bos and bos_id is not None,
    )


def _read(path: Path) -> tokenizers.Tokenizer:
    raw = read_small(path, MAX_BYTES)
    if not raw.lstrip().startswith(b"{"):
        kind = what_it_is(raw) or "no JSON object"
        raise ModelError(f"{shown(path)}: is {kind}; a tokenizer.json is needed")
    with faults_as(f"{shown(path)}: can't be read"):
        backend = tokenizers.Tokenizer.from_buffer(raw)
    if not isinstance(backend.model, models.BPE):
        kind = type(backend.model).__name__
        raise ModelError(f"{shown(path)}: model.type: {kind} is not known; BPE is")
    for mark in ("continuing_subword_prefix", "end_of_word_suffix"):
        if said := getattr(backend.model, mark):
            raise ModelError(f"{shown(path)}: model.{mark}: {quoted(said)}; none is allowed")
    # What is random or cuts long texts belongs to training.
    backend.model.dropout = None
    backend.no_truncation()
    backend.no_padding()
    return backend


def _tokens(path: Path, backend: tokenizers.Tokenizer) -> list[str | None]:
    vocabulary = backend.get_vocab(with_added_tokens=True)
    largest = max(vocabulary.values(), default=-1)
    if largest >= MOST_IDS:
        problem = f"id {largest:,}; below {MOST_IDS:,} is allowed"
        raise ModelError(f"{shown(path)}: model.vocab: {problem}")
    tokens: list[str | None] = [None] * (largest + 1)
    for token, token_id in vocabulary.items():
        tokens[token_id] = token
    return tokens


def _spelling(path: Path, backend: tokenizers.Tokenizer) -> Callable[[str], bytes]:
    """Tell how tokens are spelled by how the file itself would decode them."""
    parts = _part_types(_state(backend.decoder)) or _part_types(_state(backend.pre_tokenizer))
    if "ByteLevel" in parts:
        return byte_level
    if parts & {"Metaspace", "ByteFallback"}:
        return sentencepiece
    found = ", ".join(sorted(parts)) or "nothing"
    problem = f"{quoted(found)}; ByteLevel, ByteFallback and Metaspace are known"
    raise ModelError(f"{shown(path)}: decoder: {problem}")


def _for_fragments(backend: tokenizers.Tokenizer) -> tokenizers.Tokenizer:
    """Build the same tokenizer without the space that it puts before a text, if it does."""
    normalizer, pre_tokenizer = _state(backend.normalizer), _state(backend.pre_tokenizer)
    bare_normalizer, bare_pre_tokenizer = map(_without_prefix, (normalizer, pre_tokenizer))
    if (bare_normalizer, bare_pre_tokenizer) == (normalizer, pre_tokenizer):
        return backend
    fragments = tokenizers.Tokenizer(backend.model)  # shared, not copied
    if bare_normalizer is not None:
        fragments.normalizer = _from_state(normalizers.Sequence([]), bare_normalizer)
    if bare_pre_tokenizer is not None:
        fragments.pre_tokenizer = _from_state(pre_tokenizers.Sequence([]), bare_pre_tokenizer)
    for _, token in sorted(backend.get_added_tokens_decoder().items()):
        add = fragments.add_special_tokens if token.special else fragments.add_tokens
        add([token])
    return fragments


def _without_prefix(state: Any) -> Any:
    """Return a normalizer's or pre-tokenizer's description with no space put in front."""
    if state is None:
        return None
    kind = state["type"]
    if kind == "Prepend":
        return {"type": "Sequence", "normalizers": []}
    if kind == "Metaspace":
        return {**state, "prepend_scheme": "never"}
    if kind == "ByteLevel":
        return {**state, "add_prefix_space": False}
    if kind == "Sequence":
        key = "normalizers" if "normalizers" in state else "pretokenizers"
        return {**state, key: [_without_prefix(part) for part in state[key]]}
    return state


def _state(component: Any) -> Any:
    """Return the description of one of the library's components, as in ``tokenizer.json``."""
    return None if component is None else json.loads(component.__getstate__())


def _from_state(component: Any, state: Any) -> Any:
    component.__setstate__(json.dumps(state).encode())
    return component


def _part_types(state: Any) -> set[str]:
    """Return the types of a component and of all within it."""
    if state is None:
        return set()
    parts = [part for value in state.values() if isinstance(value, list) for part in value]
    return {state["type"]}.union(*(_part_types(part) for part in parts))


def _leading_token(path: Path, backend: tokenizers.Tokenizer) -> int | None:
    """Return the token that the file's own post-processor puts before a text, if it does."""
    with faults_as(f"{shown(path)}: post_processor: can't be used"):
        plain = backend.encode("a", add_special_tokens=False).ids
        full = backend.encode("a", add_special_tokens=True).ids
    return full[0] if full[:1] != plain[:1] else None


def _read_if_there(path: Path) -> dict[str, Any]:
    return read_object(inside(path.parent, path.name)) if path.exists() else {}


def _named(path: Path, key: str, said: Mapping[str, Any], backend: tokenizers.Tokenizer) -> Any:
    """Return the id of the token that a file names by its text."""
    token = said.get(key)
    text = token.get("content") if isinstance(token, dict) else token
    if text is None:
        return None
    token_id = backend.token_to_id(text) if isinstance(text, str) else None
    if token_id is None:
        raise ModelError(f"{shown(path)}: {key}: {quoted(text)} is no token of tokenizer.json")
    return token_id


def _ids(path: Path, key: str, said: Mapping[str, Any]) -> list[int]:
    """Return the ids that a file names by number: one, several or none."""
    value = said.get(key)
    ids = [] if value is None else value if isinstance(value, list) else [value]
    if not all(type(token_id) is int and token_id >= 0 for token_id in ids):
        raise ModelError(f"{shown(path)}: {key}: {quoted(value)}; token ids are needed")
    return ids
