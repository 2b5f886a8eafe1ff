"""The panel of two chains on the same logits."""

from __future__ import annotations

from textual.strip import Strip

from tokenloop.records import ComparedCandidate, Comparison
from tokenloop_widgets.drawing.cells import safe
from tokenloop_widgets.drawing.comparison import comparison_strips
from tokenloop_widgets.drawing.comparison_layout import body_height, head_height
from tokenloop_widgets.palette import Palette
from tokenloop_widgets.rows_panel import RowsPanel


class ComparisonPanel(RowsPanel):
    """Left and right funnel, and the candidates' final probabilities as mirrored bars."""

    _comparison: Comparison | None = None
    _side: int | None = None
    _placeholder = ""

    def show(
        self,
        comparison: Comparison | None,
        *,
        side: int | None = None,
        placeholder: str = "no prompt yet",
    ) -> None:
        """Show a comparison.

        Args:
            comparison: the two chains.
            side: the one whose chain the keys choose, 0 or 1.
            placeholder: said where there is nothing to show.
        """
        self._comparison, self._side, self._placeholder = comparison, side, placeholder
        if comparison is None:
            self.title("two orders, the same logits")
        else:
            self.title(
                f"{safe(comparison.left.name)} | {safe(comparison.right.name)}",
                f"total variation {comparison.total_variation:.3f}",
                "right − left in points",
            )
        self.keep_in_sight()
        self.redraw()

    @property
    def highlighted(self) -> ComparedCandidate | None:
        """The candidate under the cursor."""
        if self._comparison is None or self._cursor is None or not self.row_count:
            return None
        return self._comparison.candidates[self._cursor]

    @property
    def row_count(self) -> int:
        """Candidates at hand."""
        return len(self._comparison.candidates) if self._comparison is not None else 0

    @property
    def body(self) -> int:
        """Lines for candidates."""
        if self._comparison is None:
            return 1
        return max(1, body_height(self._comparison, self.size.height))

    @property
    def head(self) -> int:
        """Lines of the funnels and the header."""
        return head_height(self._comparison, self.size.height) if self._comparison else 0

    def draw(self, width: int, height: int, palette: Palette) -> list[Strip]:
        """Both funnels, the candidates, what both would draw."""
        return comparison_strips(
            self._comparison,
            width,
            height,
            palette,
            top=self._top,
            highlighted=self._cursor,
            side=self._side,
            placeholder=self._placeholder,
        )
