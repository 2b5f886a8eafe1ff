"""Which arrangement fits a terminal: a pure function of its size."""

from __future__ import annotations

from typing import Literal

Layout = Literal["wide", "medium", "small", "tiny"]

LAYOUTS: tuple[Layout, ...] = ("wide", "medium", "small", "tiny")


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
