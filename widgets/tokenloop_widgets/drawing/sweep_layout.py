"""How a sweep's plots are laid out, and its scale and values."""

from __future__ import annotations

from dataclasses import dataclass

from tokenloop.records import SweepRecord
from tokenloop_widgets.drawing.scales import scale_for

AXIS = 8
"""Cells for the figures of the upright axis: ``100 % ┤``."""

LEGEND_LEAST, LEGEND_MOST = 20, 30
PLOT_LEAST = 16


@dataclass(frozen=True)
class Layout:
    """Sizes in cells.

    Attributes:
        axis: for the figures left of the plots; 0 is left out.
        plot: the plots' width.
        legend: for the candidates' names on the right; 0 is left out.
        head, upper, lower: lines of what is told, of the probabilities, of the survivors.
        foot: lines of the axis below: values, then the mark of the current one.
    """

    axis: int
    plot: int
    legend: int
    head: int
    upper: int
    lower: int
    foot: int

    @classmethod
    def fit(cls, width: int, height: int) -> Layout:
        """The plots first, then names, axes and words."""
        axis = AXIS if width >= AXIS + PLOT_LEAST else 0
        legend = 0
        if width - axis >= PLOT_LEAST + LEGEND_LEAST + 2:
            legend = min(LEGEND_MOST, max(LEGEND_LEAST, width // 4))
        plot = max(0, width - axis - (legend + 2 if legend else 0))
        head = 2 if height >= 12 else int(height >= 6)
        foot = 2 if height >= 8 else int(height >= 4)
        room = max(0, height - head - foot)
        lower = min(8, room // 4) if room >= 10 else 0
        upper = room - lower - (1 if lower else 0)
        return cls(axis, plot, legend, head, upper, lower, foot)


def scale_of(record: SweepRecord) -> float:
    """The smallest of the fixed scales that no line exceeds."""
    return scale_for(p for point in record.points for p in point.final_p)


def nearest(record: SweepRecord, value: float) -> int:
    """The index of the point that is nearest to a value."""
    distances = [abs(point.value - value) for point in record.points]
    return distances.index(min(distances)) if distances else 0


def value_text(value: float) -> str:
    """A setting's value with the digits that matter: ``0.8``, ``40``, ``0.0005``."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"
