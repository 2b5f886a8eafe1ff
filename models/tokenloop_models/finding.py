"""From what a person named to a model that lies on this machine. Nothing is fetched here."""

from __future__ import annotations

import difflib
from pathlib import Path

from tokenloop_models import hub_cache, lm_studio, ollama
from tokenloop_models.catalogue import CATALOGUE, Entry
from tokenloop_models.errors import ModelError, quoted
from tokenloop_models.file_kinds import GGUF_MAGIC, shown
from tokenloop_models.hub_id import HubId, parse_hub_id
from tokenloop_models.places import models_folder
from tokenloop_models.staging import sha256_of

_WEIGHT_SUFFIXES = (".gguf", ".safetensors")


def resolve(source: str | Path) -> Path:
    """Turn what a person named into a file or folder that exists.

    Args:
        source: a name of the catalogue, a path to a folder, a ``.gguf`` or a ``.safetensors``, a
            hub id (``owner/name@revision:file.gguf``), or a name in Ollama's or LM Studio's store
            (``ollama:llama3.2:1b``, ``lmstudio:owner/name/file.gguf``).

    Returns:
        The path; a catalogue model's file has the right size (its hash was proven by the pull).

    Raises:
        ModelError: names what is missing and how to get it.
    """
    if isinstance(source, str) and source in CATALOGUE:
        entry = CATALOGUE[source]
        found = on_this_machine(entry)
        if found is None:
            raise ModelError(f"{entry.title} is not on this machine: tokenloop pull {entry.name}")
        return found
    path = _existing(source)
    if path is not None:
        return path
    text = str(source)
    if text.startswith((ollama.PREFIX, lm_studio.PREFIX)):
        return _in_a_store(text)
    wanted = parse_hub_id(text)
    if wanted is None:
        near = difflib.get_close_matches(text, CATALOGUE, n=1)
        hint = f"did you mean {near[0]}?" if near else f"by name there is {', '.join(CATALOGUE)}"
        raise ModelError(f"{quoted(text)}: no such file or folder; {hint}")
    found = hub_cache.find(wanted)
    if found is None:
        problem = "no such file or folder, and not fetched from the hub"
        raise ModelError(f"{quoted(text)}: {problem}: tokenloop pull {text}")
    return found


def missing_from_hub(source: str | Path) -> HubId | None:
    """Return the hub id that a source is, where the model is not (all) on this machine.

    ``None`` for everything else: names of the catalogue, paths that exist, what is no hub id.

    Raises:
        ModelError: the source is a hub id that asks for a file that is no model.
    """
    if not isinstance(source, str) or source in CATALOGUE or _existing(source) is not None:
        return None
    if source.startswith((ollama.PREFIX, lm_studio.PREFIX)):
        return None
    wanted = parse_hub_id(source)
    return wanted if wanted is not None and hub_cache.find(wanted) is None else None


def on_this_machine(entry: Entry) -> Path | None:
    """Return where a catalogue model lies, or ``None``.

    The pulled file first, then the hub's files in our folder, then those in the hub's own.
    """
    pulled = models_folder() / entry.file
    if _size(pulled) == entry.size:
        return pulled
    folder = models_folder() / entry.title
    return folder if hub_cache.is_whole(folder) else hub_cache.find(HubId(entry.hub.repo))


def verified(entry: Entry) -> bool:
    """Read the pulled file and say whether it is, byte for byte, what the catalogue says."""
    pulled = models_folder() / entry.file
    return _size(pulled) == entry.size and sha256_of(pulled) == entry.sha256


def _existing(source: str | Path) -> Path | None:
    """Return the path that a source is; ``None`` where there is nothing.

    Raises:
        ModelError: it is a file that can't be a model, or no text for a path.
    """
    if not str(source):
        raise ModelError(f"the model's name is empty: by name there is {', '.join(CATALOGUE)}")
    try:
        path = Path(source).expanduser()
        if path.is_dir():
            return path
        if path.is_file() and (path.suffix in _WEIGHT_SUFFIXES or _begins_as_gguf(path)):
            return path
        if path.exists():  # a pipe or a device is not opened: that could wait for ever
            problem = "" if path.is_file() else "is not a regular file; "
            allowed = "a model is a folder, a .gguf or a .safetensors file"
            raise ModelError(f"{shown(path)}: {problem}{allowed}")
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelError(f"{quoted(str(source))}: {quoted(str(error))}") from None
    return None


def _in_a_store(name: str) -> Path:
    """Find a model that another program has fetched."""
    if name.startswith(ollama.PREFIX):
        found, owner = ollama.find_ollama_model(name), "Ollama"
    else:
        found, owner = lm_studio.find_lm_studio_model(name), "LM Studio"
    if found is None:
        raise ModelError(f"{quoted(name)}: {owner} has no such model: tokenloop models lists them")
    return found


def _begins_as_gguf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(GGUF_MAGIC)) == GGUF_MAGIC


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None
