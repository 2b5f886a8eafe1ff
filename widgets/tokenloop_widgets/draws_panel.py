"""The panel of many draws."""

from __future__ import annotations

from textual.strip import Strip

from tokenloop.records import Choice, DrawCount, DrawsRecord
from tokenloop_widgets.drawing.draws import (
    body_height,
    draws_strips,
    head_height,
    scale_of,
    verdict,
)
from tokenloop_widgets.drawing.figures import count
from tokenloop_widgets.drawing.scales import scale_text
from tokenloop_widgets.palette import Palette
from tokenloop_widgets.rows_panel import RowsPanel


class DrawsPanel(RowsPanel):
    """What many draws came to, beside what was expected, and whether the two agree."""

    _record: DrawsRecord | None = None
    _choice: Choice | None = None
    _placeholder = ""

    def show(
        self,
        record: DrawsRecord | None,
        choice: Choice | None = None,
        *,
        placeholder: str = "no prompt yet",
    ) -> None:
        """Show the draws.

        Args:
            record: the draws.
            choice: what was drawn from: of a stage that acts by chance they say that it is held.
            placeholder: said where there are none.
        """
        self._record, self._choice, self._placeholder = record, choice, placeholder
        if record is None:
            self.title("many draws")
        else:
            self.title(
                f"{count(record.draws)} draws",
                verdict(record),
                f"bars to {scale_text(scale_of(record))}",
            )
        self.keep_in_sight()
        self.redraw()

    @property
    def highlighted(self) -> DrawCount | None:
        """The token under the cursor."""
        if self._record is None or self._cursor is None or not self.row_count:
            return None
        return self._record.counts[self._cursor]

    @property
    def row_count(self) -> int:
        """Tokens at hand."""
        return len(self._record.counts) if self._record is not None else 0

    @property
    def body(self) -> int:
        """Lines for tokens."""
        return max(1, body_height(self.size.height))

    @property
    def head(self) -> int:
        """Lines of the verdict and the header."""
        return head_height(self.size.height)

    @property
    def first_row(self) -> int:
        """The first token is told of until the cursor moves."""
        return 0

    def draw(self, width: int, height: int, palette: Palette) -> list[Strip]:
        """The verdict and the histogram."""
        return draws_strips(
            self._record,
            width,
            height,
            palette,
            top=self._top,
            highlighted=self._cursor,
            choice=self._choice,
            placeholder=self._placeholder,
        )
