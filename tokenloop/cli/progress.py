"""Progress on stderr: bars on a terminal, nothing where stderr is a file or a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TransferSpeedColumn,
)

OnProgress = Callable[[str, int, int], None]
"""Called as ``(what, done, total)``; a total of 0 is not known."""


@contextmanager
def byte_progress(title: str) -> Iterator[OnProgress]:
    """Show bytes that arrive."""
    with _progress(title, DownloadColumn(), TransferSpeedColumn()) as report:
        yield report


@contextmanager
def count_progress(title: str) -> Iterator[OnProgress]:
    """Show work that is counted in things: tensors, positions."""
    with _progress(title, MofNCompleteColumn()) as report:
        yield report


@contextmanager
def _progress(title: str, *columns: ProgressColumn) -> Iterator[OnProgress]:
    console = Console(stderr=True)
    bars = Progress(
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        *columns,
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    tasks: dict[str, TaskID] = {}

    def report(what: str, done: int, total: int) -> None:
        if what not in tasks:
            tasks[what] = bars.add_task(f"{title}: {what}", total=None)
        bars.update(tasks[what], completed=done, total=total or None)

    with bars:
        yield report
