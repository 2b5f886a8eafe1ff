"""Lines out of braille patterns: two dots across and four down in each cell."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from rich.segment import Segment
from rich.style import Style

ACROSS, DOWN = 2, 4
_DOTS = ((0x01, 0x02, 0x04, 0x40), (0x08, 0x10, 0x20, 0x80))
_BLANK = 0x2800


class Canvas:
    """A plot of ``width`` × ``height`` cells; (0, 0) is its lower left corner, (1, 1) the other.

    A cell shows all dots in it, in the style of the line that was drawn last; a letter put into a
    cell stands there instead of its dots.
    """

    def __init__(self, width: int, height: int, ground: Style) -> None:
        self.width, self.height, self._ground = max(0, width), max(0, height), ground
        self._dots: dict[tuple[int, int], int] = {}
        self._styles: dict[tuple[int, int], Style] = {}
        self._letters: dict[tuple[int, int], str] = {}

    def line(self, points: Sequence[tuple[float, float]], style: Style) -> None:
        """Join points of [0, 1] × [0, 1] by straight lines."""
        if not points or not self.width or not self.height:
            return
        across, down = self.width * ACROSS - 1, self.height * DOWN - 1
        ends = [(round(x * across), round(y * down)) for x, y in points]
        self._dot(*ends[0], style)
        for (x0, y0), (x1, y1) in pairwise(ends):
            steps = max(abs(x1 - x0), abs(y1 - y0), 1)
            for step in range(1, steps + 1):
                x = x0 + (x1 - x0) * step / steps
                y = y0 + (y1 - y0) * step / steps
                self._dot(round(x), round(y), style)

    def letter(self, x: float, y: float, letter: str, style: Style) -> None:
        """Put a letter of one cell at a point, unless one stands there already."""
        if not self.width or not self.height:
            return
        across, down = self.width * ACROSS - 1, self.height * DOWN - 1
        cell = (round(x * across) // ACROSS, round(y * down) // DOWN)
        if cell not in self._letters:
            self._letters[cell], self._styles[cell] = letter, style

    def column(self, x: float, mark: str, style: Style) -> None:
        """Draw a bound from top to bottom through the cells that are empty."""
        if not self.width:
            return
        at = round(x * (self.width * ACROSS - 1)) // ACROSS
        for row in range(self.height):
            if (at, row) not in self._dots and (at, row) not in self._letters:
                self._letters[at, row], self._styles[at, row] = mark, style

    def rows(self) -> list[list[Segment]]:
        """The lines of segments, the uppermost first."""
        return [self._row(row) for row in reversed(range(self.height))]

    def _dot(self, x: int, y: int, style: Style) -> None:
        cell = (x // ACROSS, y // DOWN)
        bit = _DOTS[x % ACROSS][DOWN - 1 - y % DOWN]
        self._dots[cell] = self._dots.get(cell, 0) | bit
        self._styles[cell] = style

    def _row(self, row: int) -> list[Segment]:
        segments: list[Segment] = []
        for column in range(self.width):
            cell = (column, row)
            style = self._styles.get(cell, self._ground)
            text = self._letters.get(cell)
            if text is None:
                text = chr(_BLANK | self._dots[cell]) if cell in self._dots else " "
            if segments and segments[-1].style is style:
                segments[-1] = Segment(segments[-1].text + text, style)
            else:
                segments.append(Segment(text, style))
        return segments
