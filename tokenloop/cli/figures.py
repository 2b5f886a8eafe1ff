"""Numbers and colours that the command line's tables share."""

from __future__ import annotations

from rich import box
from rich.console import JustifyMethod
from rich.table import Table

MODEL, SAMPLER, MEMORY, CUT = "blue", "yellow", "magenta", "bright_black"
"""What the model says, what the sampler makes of it, the cache, and what was cut."""

Column = tuple[str, JustifyMethod, int, str]
"""Heading, alignment, least width (so that the tables of a run line up) and colour."""


def table_of(columns: tuple[Column, ...]) -> Table:
    """An empty table with these columns."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, padding=(0, 1, 0, 0))
    for heading, justify, width, style in columns:
        table.add_column(heading, justify=justify, min_width=width, style=style)
    return table


def percent(p: float | None) -> str:
    """A probability; nothing where it is not known."""
    return "" if p is None else f"{max(p, 0.0) * 100:.2f} %"
