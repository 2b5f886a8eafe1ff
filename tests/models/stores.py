"""Other programs' folders of models, as they lay them out."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

WEIGHTS = "application/vnd.ollama.image.model"


def into_ollama(store: Path, name: str, weights: Path, *, media_type: str = WEIGHTS) -> Path:
    """Put a GGUF into Ollama's store under ``host/namespace/model/tag``; returns its blob."""
    raw = weights.read_bytes()
    digest = hashlib.sha256(raw).hexdigest()
    blob = store / "blobs" / f"sha256-{digest}"
    blob.parent.mkdir(parents=True, exist_ok=True)
    blob.write_bytes(raw)
    manifest = store / "manifests" / name
    manifest.parent.mkdir(parents=True, exist_ok=True)
    layers = [
        {"mediaType": "application/vnd.ollama.image.license", "digest": f"sha256:{'0' * 64}"},
        {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(raw)},
    ]
    manifest.write_text(json.dumps({"schemaVersion": 2, "layers": layers}), encoding="utf-8")
    return blob
