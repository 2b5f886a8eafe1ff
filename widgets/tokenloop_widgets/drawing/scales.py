"""What the whole length of a bar stands for: one of a few fixed probabilities, always stated."""

from __future__ import annotations

from collections.abc import Iterable

SCALES = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01)


def scale_for(probabilities: Iterable[float]) -> float:
    """The smallest of the fixed scales that none of the probabilities exceeds."""
    longest = max(probabilities, default=1.0)
    return min((scale for scale in SCALES if longest <= scale), default=1.0)


def scale_text(scale: float) -> str:
    """``50 %``."""
    return f"{scale * 100:g} %"
