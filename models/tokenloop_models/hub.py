"""Fetch a model's files from the Hugging Face hub: ``python -m tokenloop_models.hub``.

Run as a process of its own, so that a pull can be stopped at any time and its library's output
never reaches the screen. The hub's own settings hold: HF_ENDPOINT, HF_TOKEN, HF_HUB_OFFLINE.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from tokenloop_models.staging import sha256_of


def fetch(repo: str, folder: Path, files: Sequence[str]) -> None:
    """Fetch some of a repository's files into a folder and prove the large ones.

    Args:
        repo: ``owner/name``.
        folder: takes the files.
        files: their names; those that the repository lacks are left out.

    Raises:
        ValueError: a file's SHA-256 is not the one that the hub publishes for it.
        Exception: whatever the hub's library says of the network or the repository.
    """
    from huggingface_hub import HfApi, snapshot_download

    info = HfApi().model_info(repo, files_metadata=True)
    snapshot_download(repo, revision=info.sha, local_dir=folder, allow_patterns=list(files))
    shutil.rmtree(folder / ".cache", ignore_errors=True)  # the library's own notes
    for sibling in info.siblings or ():
        path = folder / sibling.rfilename
        if sibling.lfs is not None and path.is_file() and sha256_of(path) != sibling.lfs.sha256:
            raise ValueError(f"{repo}: {sibling.rfilename} has the wrong SHA-256: not used")


def main() -> int:
    """Fetch what the arguments name; one line on stderr where that fails."""
    repo, folder, *files = sys.argv[1:]
    try:
        fetch(repo, Path(folder), files)
    except Exception as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        print(lines[0] if lines else type(error).__name__, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
