"""The panel of the candidates through the stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.message import Message
from textual.strip import Strip

from tokenloop.records import Candidate, Choice, Token
from tokenloop_widgets.drawing.cells import safe
from tokenloop_widgets.drawing.figures import bits, count
from tokenloop_widgets.drawing.scales import scale_text
from tokenloop_widgets.drawing.through import through_strips
from tokenloop_widgets.drawing.through_layout import (
    Column,
    Heights,
    Sight,
    columns_of,
    fit,
    scale_of,
)
from tokenloop_widgets.palette import Palette
from tokenloop_widgets.rows_panel import RowsPanel


class ThroughPanel(RowsPanel):
    """Candidates as rows, stages as columns; both scroll, model and final stay in place."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "stage(-1)", "stage before", show=False),
        Binding("right,l", "stage(1)", "next stage", show=False),
        Binding("a", "every", "all stages", show=False),
    ]

    @dataclass
    class NeedMore(Message):
        """The cursor nears the end of what the choice holds: ``count`` candidates are wanted."""

        count: int

        def can_replace(self, message: Message) -> bool:
            """A larger wish replaces a smaller one."""
            return isinstance(message, ThroughPanel.NeedMore)

    _choice: Choice | None = None
    _found: Sequence[Candidate] | None = None
    _placeholder = ""
    _left = 1
    _column = 0
    _every = False
    _asked = 0

    def show(
        self,
        choice: Choice | None,
        *,
        found: Sequence[Candidate] | None = None,
        name: str = "through the stages",
        after: Token | None = None,
        placeholder: str = "no prompt yet",
    ) -> None:
        """Show a choice's candidates, or those that a search found among all.

        Args:
            choice: the held distribution, or an earlier token's record.
            found: the rows where they are not the choice's own.
            name: of the panel.
            after: the token before it, for the headline.
            placeholder: said where there is nothing to show.
        """
        before, old = self._choice, self._rows
        self._choice, self._found, self._placeholder = choice, found, placeholder
        if before is None or choice is None or before.position != choice.position:
            self._top, self._cursor = 0, None
        if len(old) != len(self._rows):
            self._asked = 0
        self._column = min(self._column, max(0, len(self._columns) - 1))
        self._titles(name, after)
        self.keep_in_sight()
        self.redraw()

    @property
    def every(self) -> bool:
        """Whether the stages that did nothing are shown too."""
        return self._every

    @property
    def highlighted(self) -> Candidate | None:
        """The candidate under the cursor."""
        if self._cursor is None or self._cursor >= len(self._rows):
            return None
        return self._rows[self._cursor]

    @property
    def row_count(self) -> int:
        """Candidates at hand."""
        return len(self._rows)

    @property
    def body(self) -> int:
        """Lines for candidates; the marked draw may be pinned to the last of them."""
        whole = self._found is None
        body = Heights.fit(self.size.height, tail=whole).body(self.size.height)
        return max(1, body - whole)

    @property
    def head(self) -> int:
        """Lines of the header."""
        return Heights.fit(self.size.height, tail=self._found is None).head

    @property
    def first_row(self) -> int:
        """The marked draw, where it is among the rows."""
        if self._choice is None:
            return -1
        ids = [candidate.id for candidate in self._rows]
        chosen = self._choice.chosen.id
        return ids.index(chosen) if chosen in ids else -1

    def draw(self, width: int, height: int, palette: Palette) -> list[Strip]:
        """The table, as far as it is in sight."""
        return through_strips(
            self._choice,
            width,
            height,
            palette,
            candidates=self._found,
            sight=Sight(self._top, self._left, self._cursor, self._column, self._every),
            placeholder=self._placeholder,
        )

    def action_stage(self, by: int) -> None:
        """Go to another column, and scroll there."""
        self._column = max(0, min(self._column + by, len(self._columns) - 1))
        self._scroll_to_column()
        self.redraw()

    def action_every(self) -> None:
        """Show the stages that did nothing, or only those that acted."""
        here = self._columns[self._column].stage if self._columns else 0
        self._every = not self._every
        stages = [column.stage for column in self._columns]
        self._column = stages.index(here) if here in stages else 0
        self._left = 1
        self._scroll_to_column()
        self.redraw()

    def move_to(self, row: int) -> None:
        """Put the cursor on a row; ask for more where the end is near."""
        super().move_to(row)
        choice, held = self._choice, self.row_count
        if choice is None or self._found is not None or self._cursor is None:
            return
        page = max(10, self.body)
        if choice.tail.count and self._cursor + page >= held and self._asked <= held:
            self._asked = min(choice.vocab_size, held + 4 * page)
            self.post_message(self.NeedMore(self._asked))

    @property
    def _rows(self) -> Sequence[Candidate]:
        if self._found is not None:
            return self._found
        return self._choice.candidates if self._choice is not None else ()

    @property
    def _columns(self) -> list[Column]:
        return columns_of(self._choice, every=self._every) if self._choice else []

    def _scroll_to_column(self) -> None:
        """The first stage in sight, such that the highlighted one is too."""
        choice = self._choice
        if choice is None:
            return
        columns = columns_of(choice, every=self._every)
        last = len(columns) - 1
        if not 0 < self._column < last:
            return
        self._left = min(self._left, self._column)
        while self._left < self._column:
            placed = fit(self.size.width, choice, columns, most=self._most(choice), left=self._left)
            if self._column in placed.shown:
                return
            self._left += 1

    def _most(self, choice: Choice) -> int:
        return max([choice.chosen.rank, *(candidate.rank for candidate in self._rows)])

    def _titles(self, name: str, after: Token | None) -> None:
        choice = self._choice
        if choice is None:
            self.title(name)
            return
        acted = sum(stage.skipped is None for stage in choice.stages)
        self.title(
            name,
            f"{count(choice.vocab_size)} candidates",
            f"{acted} of {len(choice.stages)} stages act" if choice.stages else "",
            f"{choice.entropy_bits:.2f} → {bits(choice.final_entropy_bits)}"
            if choice.final_entropy_bits is not None
            else bits(choice.entropy_bits),
            f"bars to {scale_text(scale_of(choice, self._rows))}",
            f"after {safe(after.label)}" if after else "",
        )
