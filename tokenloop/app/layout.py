"""Which arrangement fits a terminal: a function of its size, told to the style sheet as a class."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from textual.geometry import Size
    from textual.screen import Screen

Layout = Literal["wide", "medium", "small", "tiny"]

LAYOUTS: tuple[Layout, ...] = ("wide", "medium", "small", "tiny")

LOW = 6
"""Rows below which even the status and the keys make way for the text and the candidates."""


def layout_for(width: int, height: int) -> Layout:
    """The arrangement for a terminal of ``width`` columns and ``height`` rows.

    ``wide`` and ``medium`` show five panels, ``small`` two and a summary line for each of the
    others, ``tiny`` the text and the candidates only.
    """
    if width >= 120 and height >= 34:
        return "wide"
    if width >= 96 and height >= 28:
        return "medium"
    if width >= 60 and height >= 18:
        return "small"
    return "tiny"


def arrange(screen: Screen[Any], size: Size) -> Layout:
    """Give the screen the class of its arrangement (``-wide`` …, ``-low``) and return it."""
    layout = layout_for(size.width, size.height)
    for name in LAYOUTS:
        screen.set_class(name == layout, f"-{name}")
    screen.set_class(size.height < LOW, "-low")
    return layout
