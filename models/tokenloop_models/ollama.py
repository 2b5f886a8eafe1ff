"""Models that Ollama has fetched: its manifests say which blob is the GGUF of which model.

``manifests/HOST/NAMESPACE/MODEL/TAG`` is a JSON document that lists layers, each with what it is
(``mediaType``) and its digest; the weights' layer is ``blobs/sha256-DIGEST``. A name is written as
Ollama writes it, after ``ollama:``: the host and ``library`` are left out where they are Ollama's.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path

from tokenloop_models.errors import ModelError
from tokenloop_models.file_kinds import read_small

PREFIX = "ollama:"
WEIGHTS = "application/vnd.ollama.image.model"
_HOST, _NAMESPACE = "registry.ollama.ai", "library"
_DIGEST = re.compile(r"sha256:([0-9a-f]{64})")
_MOST_MANIFEST_BYTES = 1 << 20
_SERVICE_STORE = Path("/usr/share/ollama/.ollama/models")  # of the Linux service's own user


def stores() -> list[Path]:
    """Return the folders in which Ollama may keep models; they need not exist."""
    chosen = os.environ.get("OLLAMA_MODELS")
    if chosen:
        return [Path(chosen).expanduser()]
    return [Path.home() / ".ollama" / "models", _SERVICE_STORE]


def ollama_models() -> list[tuple[str, Path]]:
    """List each model with its name (``ollama:llama3.2:1b``) and the blob of its weights."""
    found: dict[str, Path] = {}
    for store in stores():
        for manifest in _manifests(store / "manifests"):
            name = _name(manifest.relative_to(store / "manifests").parts)
            blob = _weights(manifest, store / "blobs")
            if blob is not None:
                found.setdefault(name, blob)
    return sorted(found.items())


def find_ollama_model(name: str) -> Path | None:
    """Return the weights of a model (``ollama:llama3.2:1b``; without a tag, ``latest``)."""
    wanted = name if ":" in name.removeprefix(PREFIX) else f"{name}:latest"
    return dict(ollama_models()).get(wanted)


def _manifests(folder: Path) -> Iterator[Path]:
    """Yield the files four levels down: host, namespace, model, tag."""
    try:
        yield from (path for path in sorted(folder.glob("*/*/*/*")) if path.is_file())
    except OSError:
        return


def _name(parts: tuple[str, ...]) -> str:
    host, namespace, model, tag = parts
    if host != _HOST:
        return f"{PREFIX}{host}/{namespace}/{model}:{tag}"
    return f"{PREFIX}{model if namespace == _NAMESPACE else f'{namespace}/{model}'}:{tag}"


def _weights(manifest: Path, blobs: Path) -> Path | None:
    try:
        layers = json.loads(read_small(manifest, _MOST_MANIFEST_BYTES))["layers"]
        digests = [layer["digest"] for layer in layers if layer["mediaType"] == WEIGHTS]
        match = _DIGEST.fullmatch(digests[0])
    except (ModelError, ValueError, LookupError, TypeError, RecursionError):
        return None
    blob = blobs / f"sha256-{match[1]}" if match else None
    return blob if blob is not None and blob.is_file() else None
