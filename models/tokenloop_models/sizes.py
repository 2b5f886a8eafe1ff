"""Bytes for people: of files in the units of disks, of memory in binary ones."""

from __future__ import annotations

FILE_UNITS = ("kB", "MB", "GB", "TB")
MEMORY_UNITS = ("KiB", "MiB", "GiB", "TiB")


def file_size(n: int) -> str:
    """Bytes of a file or a download: ``98 MB``, ``4.9 GB``."""
    return _in_units(n, 1000, FILE_UNITS, decimal_below=9.95)


def memory_size(n: int) -> str:
    """Bytes in memory: ``45.0 KiB``, ``270 KiB``, ``360 MiB``."""
    return _in_units(n, 1024, MEMORY_UNITS, decimal_below=99.95)


def _in_units(n: int, step: int, units: tuple[str, ...], *, decimal_below: float) -> str:
    """In the first unit that leaves at most three digits before the point."""
    if n < 1000:
        return f"{n} B"
    value = float(n)
    for unit in units:
        value /= step
        if value < 999.5 or unit == units[-1]:
            break
    return f"{value:.1f} {unit}" if value < decimal_below else f"{value:,.0f} {unit}"
