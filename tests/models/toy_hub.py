"""A small hub on this machine's loopback address, as the hub's own library talks to it."""

from __future__ import annotations

import hashlib
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit

LARGE = (".safetensors", ".gguf")

HUB_FILES = {
    "config.json": b'{"model_type": "llama"}',
    "tokenizer.json": b"{}",
    "model.safetensors": b"w" * 100_000,
    "modeling_toy.py": b"raise SystemExit('code of a checkpoint ran')",
    "README.md": b"# Toy",
    "original/consolidated.00.pth": b"p" * 10,
}


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@dataclass
class ToyHub:
    """What the hub holds, how it behaves, and what it was asked.

    Attributes:
        files: of the main branch.
        repo: ``owner/name``.
        branches: the files of other branches and tags.
        gated: files are refused until the request carries this token.
        claims: SHA-256 hashes that the hub publishes in the place of the true ones.
        stops_after: cuts the connection after so many bytes of a large file.
        stalls_after: sends so many bytes of a large file, then nothing until ``go_on`` is set.
        broken: answers every request for the repository with 503.
        asked: every request for a file: its name, and the byte that it begins at.
    """

    files: dict[str, bytes]
    repo: str = "toys/Toy-1K"
    branches: dict[str, dict[str, bytes]] = field(default_factory=dict)
    gated: str | None = None
    claims: dict[str, str] = field(default_factory=dict)
    stops_after: int | None = None
    stalls_after: int | None = None
    go_on: threading.Event = field(default_factory=threading.Event)
    broken: bool = False
    asked: list[tuple[str, int]] = field(default_factory=list)
    address: str = ""

    def at(self, revision: str) -> dict[str, bytes] | None:
        """The files at a branch, tag or commit."""
        known = {"main": self.files, **self.branches}
        by_commit = {commit_of(files): files for files in known.values()}
        return known.get(revision, by_commit.get(revision))

    def fetched(self) -> set[str]:
        """Names of the files that were asked for."""
        return {name for name, _ in self.asked}


def commit_of(files: dict[str, bytes]) -> str:
    """A commit's hash: of what is in it."""
    listed = sorted((name, sha256(data)) for name, data in files.items())
    return hashlib.sha1(repr(listed).encode()).hexdigest()


@contextmanager
def serving(hub: ToyHub) -> Iterator[ToyHub]:
    """Serve a hub; its address is what HF_ENDPOINT should be."""
    handler = type("Handler", (_Handler,), {"hub": hub})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    hub.address = f"http://127.0.0.1:{server.server_port}"
    try:
        yield hub
    finally:
        hub.go_on.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    hub: ToyHub

    def do_GET(self) -> None:
        self._answer(with_body=True)

    def do_HEAD(self) -> None:
        self._answer(with_body=False)

    def _answer(self, *, with_body: bool) -> None:
        path = unquote(urlsplit(self.path).path)
        api = re.fullmatch(
            rf"/api/models/{self.hub.repo}(?:/revision/(?P<a>.+)|/tree/(?P<b>[^/]+).*)?", path
        )
        resolve = re.fullmatch(rf"/{self.hub.repo}/resolve/([^/]+)/(.+)", path)
        if self.hub.broken:
            self.send_error(503)
        elif api is not None:
            self._api(api["a"] or api["b"] or "main", tree=api["b"] is not None)
        elif resolve is not None:
            self._file(resolve[1], resolve[2], with_body=with_body)
        else:
            self._refuse(401, "RepoNotFound")

    def _api(self, revision: str, *, tree: bool) -> None:
        files = self.hub.at(revision)
        if files is None:
            self._refuse(404, "RevisionNotFound")
            return
        siblings = [self._listed(name, data) for name, data in files.items()]
        info = {"id": self.hub.repo, "sha": commit_of(files), "siblings": siblings, "tags": []}
        entries = [
            {"type": "file", "path": one["rfilename"], "size": one["size"], "oid": one["blobId"]}
            | ({"lfs": one["lfs"]} if one["lfs"] else {})
            for one in siblings
        ]
        body = json.dumps(entries if tree else info).encode()
        self._send(200, {"Content-Length": str(len(body)), "Content-Type": "application/json"})
        self.wfile.write(body)

    def _listed(self, name: str, data: bytes) -> dict[str, object]:
        digest = self.hub.claims.get(name, sha256(data))
        lfs = {"sha256": digest, "oid": digest, "size": len(data), "pointerSize": 130}
        large = name.endswith(LARGE)
        blob = hashlib.sha1(data).hexdigest()
        return {"rfilename": name, "size": len(data), "blobId": blob, "lfs": lfs if large else None}

    def _file(self, revision: str, name: str, *, with_body: bool) -> None:
        files = self.hub.at(revision)
        token = self.headers.get("Authorization", "").removeprefix("Bearer ")
        if self.hub.gated is not None and token != self.hub.gated:
            self._refuse(403 if token else 401, "GatedRepo")
        elif files is None:
            self._refuse(404, "RevisionNotFound")
        elif name not in files:
            self._refuse(404, "EntryNotFound")
        else:
            self._send_file(name, files[name], commit_of(files), with_body=with_body)

    def _send_file(self, name: str, data: bytes, commit: str, *, with_body: bool) -> None:
        begins = re.fullmatch(r"bytes=(\d+)-", self.headers.get("Range", ""))
        start = int(begins[1]) if begins else 0
        etag = self.hub.claims.get(name, sha256(data)) if name.endswith(LARGE) else sha256(data)
        headers = {"Content-Length": str(len(data) - start), "ETag": f'"{etag}"'}
        headers |= {"X-Repo-Commit": commit, "Accept-Ranges": "bytes"}
        if start:
            headers["Content-Range"] = f"bytes {start}-{len(data) - 1}/{len(data)}"
        self._send(206 if start else 200, headers)
        if with_body:
            self.hub.asked.append((name, start))
            end = len(data)
            if self.hub.stalls_after is not None and name.endswith(LARGE):
                self.wfile.write(data[start : start + self.hub.stalls_after])
                self.wfile.flush()
                self.hub.go_on.wait(60)
                self.connection.close()
                return
            if self.hub.stops_after is not None and name.endswith(LARGE):
                end = min(end, start + self.hub.stops_after)
            self.wfile.write(data[start:end])
            if end < len(data):
                self.wfile.flush()
                self.connection.close()

    def _refuse(self, status: int, code: str) -> None:
        self._send(status, {"X-Error-Code": code, "Content-Length": "0"})

    def _send(self, status: int, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass
