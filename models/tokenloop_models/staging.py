"""A pull's workbench: a folder beside the models where things arrive before they are proven."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from tokenloop_models.errors import Cancelled, ModelError
from tokenloop_models.sizes import file_size

Progress = Callable[[str, int, int], None]
"""Called as ``progress(what, done, total)`` in bytes; a total of 0 is not known."""

PREFIX = ".pull-"
POLL_SECONDS = 0.1
BLOCK = 1 << 20
_ABANDONED_AFTER_SECONDS = 24 * 3600


@contextmanager
def workbench(folder: Path) -> Iterator[Path]:
    """Give a fresh folder inside ``folder`` and remove it afterwards, whatever happens.

    Being inside, what is proven there moves to its final name by one rename. A pull that was
    killed leaves its workbench behind; the next pull sweeps those of yesterday and before.

    Raises:
        ModelError: when the folder can't be made or written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _sweep(folder)
        bench = Path(tempfile.mkdtemp(prefix=PREFIX, dir=folder))
    except OSError as error:
        raise ModelError(f"{folder}: {error.strerror or error}: a model needs room there") from None
    try:
        yield bench
    finally:
        shutil.rmtree(bench, ignore_errors=True)


def need_space(folder: Path, size: int, remedy: str) -> None:
    """Refuse before anything is fetched when the disk can't hold it.

    Args:
        folder: where it goes; need not exist yet.
        size: in bytes.
        remedy: what the person can do.

    Raises:
        ModelError: names the folder, what is needed and what is free.
    """
    there = next(path for path in (folder, *folder.parents) if path.exists())
    free = shutil.disk_usage(there).free
    if free < size:
        raise ModelError(f"{folder}: {file_size(free)} free, {file_size(size)} needed: {remedy}")


def watch(
    command: Sequence[str],
    bench: Path,
    *,
    environment: Mapping[str, str],
    measure: Callable[[], tuple[int, int]],
    progress: Progress | None,
    cancelled: Callable[[], bool] | None,
) -> tuple[int, str]:
    """Run a command that fetches something, reporting the bytes that are really there.

    Args:
        command: the program and its arguments; it gets no input.
        bench: holds the log of what it printed.
        environment: of the command.
        measure: counts the bytes that have come so far, and says how many are expected (0 where
            that is not known).
        progress: told about the bytes a few times a second.
        cancelled: asked as often; the command is ended when it answers True.

    Returns:
        The exit status and what the command printed.

    Raises:
        Cancelled: after the command has ended.
    """
    log = bench / "log"
    with (
        log.open("wb") as output,
        subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=dict(environment),
        ) as process,
    ):
        try:
            while process.poll() is None:
                if cancelled is not None and cancelled():
                    raise Cancelled("the pull was stopped")
                if progress is not None:
                    progress("download", *measure())
                time.sleep(POLL_SECONDS)
        finally:
            if process.poll() is None:
                process.terminate()
                _wait_or_kill(process)
    return process.returncode, log.read_text(encoding="utf-8", errors="replace")


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file in hexadecimal, read in blocks."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def settle(bench_file: Path, final: Path) -> Path:
    """Give a proven file or folder its final name, durably and in one step.

    Two pulls may do this at once: both hold the same proven bytes, and either may win.
    """
    if bench_file.is_file():
        with bench_file.open("rb") as file:
            os.fsync(file.fileno())
    try:
        bench_file.replace(final)
    except OSError:
        if not final.exists():  # a folder can't replace one that another pull has just settled
            raise
    return final


def largest_file(folder: Path, suffix: str) -> int:
    """Return the size of the largest file with that suffix anywhere in a folder, 0 for none."""
    largest = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                if name.endswith(suffix):
                    largest = max(largest, (Path(parent) / name).stat().st_size)
            except OSError:
                continue
    return largest


def last_line(log: str) -> str:
    """Return the last line that a command printed, fit to stand in an error."""
    lines = [line for line in log.splitlines() if line.strip()]
    return one_line(lines[-1]) if lines else "it ended without a word"


def one_line(text: str, limit: int = 300) -> str:
    """Return a text on one printable line, cut with an ellipsis."""
    shown = "".join(c if c.isprintable() else " " for c in text).strip()
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"


def _sweep(folder: Path) -> None:
    yesterday = time.time() - _ABANDONED_AFTER_SECONDS
    for bench in folder.glob(f"{PREFIX}*"):
        try:
            if bench.stat().st_mtime < yesterday:
                shutil.rmtree(bench, ignore_errors=True)
        except OSError:
            continue


def _wait_or_kill(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
