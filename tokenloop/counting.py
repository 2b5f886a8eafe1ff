"""Numbers of things, in words."""

from __future__ import annotations


def counted(count: int, noun: str) -> str:
    """A number of things: "1 step", "1,200 steps"."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
