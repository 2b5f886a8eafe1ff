"""Fetch a model from the Hugging Face hub: ``python -m tokenloop_models.hub ID PLAN``.

Run as a process of its own, so that a pull can be stopped at any time and its library's output
never reaches the screen. The hub's own settings hold: HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE,
HF_HOME. Files go into the library's cache, where every other program finds them. Large ones are
fetched here, not by the library, which (2.x) begins again at the first byte after an interruption:
what has arrived stays beside the blobs as ``SHA256.incomplete``, and the next pull goes on from
there.
"""

from __future__ import annotations

import glob
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from tokenloop_models.errors import ModelError, quoted
from tokenloop_models.family_names import unsupported
from tokenloop_models.hub_cache import MAIN, repo_folder
from tokenloop_models.hub_errors import UNREACHABLE, explain, is_of_the_network
from tokenloop_models.hub_files import CONFIG, INDEX, needed_files
from tokenloop_models.hub_id import HubId, parse_hub_id
from tokenloop_models.staging import need_space, sha256_of
from tokenloop_models.strict_json import read_object

if TYPE_CHECKING:
    from huggingface_hub.hf_api import ModelInfo

MOST_CONFIG_BYTES = 1 << 20


@dataclass(frozen=True)
class Blob:
    """One large file as it lies in the cache.

    Attributes:
        name: in the repository.
        size: in bytes.
        path: where it stands when it is whole and proven, named by its SHA-256.
    """

    name: str
    size: int
    path: Path

    @property
    def partial(self) -> Path:
        """Where its bytes arrive."""
        return self.path.with_name(f"{self.path.name}.incomplete")


def fetch(wanted: HubId, plan: Path) -> None:
    """Fetch what a model needs and is not here yet.

    Args:
        wanted: the model.
        plan: told, as JSON, the size and the places of the files, before the first arrives.

    Raises:
        ModelError: the repository has no such model, or none that can be run.
        Exception: whatever the hub's library says of the network or the repository.
    """
    from huggingface_hub import HfApi, hf_hub_download, snapshot_download

    info = HfApi().model_info(wanted.repo, revision=wanted.revision, files_metadata=True)
    names = [sibling.rfilename for sibling in info.siblings or ()]
    if wanted.file is None and CONFIG in names:
        config = hf_hub_download(wanted.repo, CONFIG, revision=info.sha)
        _refuse_unsupported(wanted, Path(config))

    def read_index() -> Mapping[str, Any]:
        return read_object(Path(hf_hub_download(wanted.repo, INDEX, revision=info.sha)))

    files = needed_files(wanted, names, read_index)
    blobs = _blobs(info, wanted.repo, files)
    _write_plan(plan, info, files, blobs)
    missing = sum(blob.size - _size(blob.partial) for blob in blobs)
    need_space(
        repo_folder(wanted.repo), missing, "free some space or set HF_HOME to a folder elsewhere"
    )
    for blob in blobs:
        _bring(blob, wanted.repo, info.sha)
    # The library itself fetches the small files, links everything and remembers the revision.
    snapshot = snapshot_download(
        wanted.repo,
        revision=wanted.revision or MAIN,
        allow_patterns=[glob.escape(name) for name in files],
    )
    for name in files:
        if not (Path(snapshot) / name).is_file():
            raise ModelError(f"{wanted}: {name} did not arrive: pull again")


def _refuse_unsupported(wanted: HubId, config: Path) -> None:
    """Look at what the model is before gigabytes of it are fetched."""
    if problem := unsupported(read_object(config, MOST_CONFIG_BYTES)):
        raise ModelError(f"{wanted}: {CONFIG}: {problem}: not fetched")


def _blobs(info: ModelInfo, repo: str, files: Sequence[str]) -> list[Blob]:
    """Return the large files among these that are not here yet."""
    folder = repo_folder(repo)
    snapshot = folder / "snapshots" / str(info.sha)
    blobs = []
    for sibling in info.siblings or ():
        if sibling.rfilename in files and sibling.lfs is not None:
            blob = Blob(sibling.rfilename, sibling.lfs.size, folder / "blobs" / sibling.lfs.sha256)
            # Where links are not possible, the library moves the blob into the snapshot.
            if not blob.path.exists() and not (snapshot / blob.name).exists():
                blobs.append(blob)
    return blobs


def _write_plan(plan: Path, info: ModelInfo, files: Sequence[str], blobs: Sequence[Blob]) -> None:
    sizes = {sibling.rfilename: sibling.size or 0 for sibling in info.siblings or ()}
    total = sum(sizes[name] for name in files)
    missing = sum(blob.size for blob in blobs)
    places = [[str(blob.path), str(blob.partial)] for blob in blobs]
    said = {"total": total, "here": total - missing, "places": places}
    ready = plan.with_suffix(".tmp")
    ready.write_text(json.dumps(said), encoding="utf-8")
    ready.replace(plan)


def _bring(blob: Blob, repo: str, commit: str | None) -> None:
    """Fetch one large file, going on where an earlier pull stopped, and prove it.

    Raises:
        ModelError: its SHA-256 is not the one that the hub publishes; nothing of it is kept.
    """
    from filelock import FileLock

    blob.path.parent.mkdir(parents=True, exist_ok=True)
    lock = repo_folder(repo).parent / ".locks" / repo_folder(repo).name / f"{blob.path.name}.lock"
    lock.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(lock):
        if blob.path.exists():
            return  # another pull was faster
        _receive(blob, repo, commit)
        if sha256_of(blob.partial) != blob.path.name:
            blob.partial.unlink()
            raise ModelError(f"{repo}: {quoted(blob.name)} has the wrong SHA-256: not used")
        blob.partial.replace(blob.path)


def _receive(blob: Blob, repo: str, commit: str | None) -> None:
    """Fetch the bytes that are missing; a connection that breaks is taken up again.

    As long as each try brings something: the library tries again by itself, but not after every
    kind of break.
    """
    while (done := _size(blob.partial)) != blob.size:
        try:
            _receive_once(blob, repo, commit)
        except Exception as error:
            if not is_of_the_network(error) or _size(blob.partial) <= done:
                raise


def _receive_once(blob: Blob, repo: str, commit: str | None) -> None:
    from huggingface_hub import get_hf_file_metadata, hf_hub_url
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils._headers import build_hf_headers

    url = hf_hub_url(repo, blob.name, revision=commit)
    headers = build_hf_headers()
    where = get_hf_file_metadata(url).location
    if urlsplit(where).netloc != urlsplit(url).netloc:
        headers.pop("authorization", None)  # the token is the hub's, not its store's
    blob.partial.touch()
    with blob.partial.open("r+b") as file:
        done = file.seek(0, 2)
        if done > blob.size:
            done = file.truncate(file.seek(0))
        http_get(where, file, resume_size=done, headers=headers, expected_size=blob.size)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def main() -> int:
    """Fetch what the arguments name; one line on stderr where that fails."""
    text, plan = sys.argv[1:]
    wanted = parse_hub_id(text)
    if wanted is None:
        raise SystemExit(f"{text!r} is no hub id")
    try:
        fetch(wanted, Path(plan))
    except Exception as error:
        line, reachable = explain(error, wanted)
        print(f"\n{line}", file=sys.stderr)
        return 1 if reachable else UNREACHABLE
    return 0


if __name__ == "__main__":
    sys.exit(main())
