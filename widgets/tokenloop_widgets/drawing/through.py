"""The table of candidates through the stages: rows are candidates, columns what each stage left."""

from __future__ import annotations

from collections.abc import Sequence

from rich.style import Style
from textual.strip import Strip

from tokenloop.records import Candidate, Choice
from tokenloop_widgets.drawing.bars import bar
from tokenloop_widgets.drawing.cells import (
    Line,
    fill_height,
    first_fitting,
    parts,
    placeholder_strips,
    width_of,
)
from tokenloop_widgets.drawing.figures import (
    PERCENT_WIDTH,
    count,
    percent,
    stage_name,
)
from tokenloop_widgets.drawing.heat import heat
from tokenloop_widgets.drawing.through_figures import entropy_of, left_by, masses
from tokenloop_widgets.drawing.through_layout import (
    FINAL,
    GAP,
    MARKS,
    MODEL,
    Column,
    Heights,
    Layout,
    Row,
    Sight,
    columns_of,
    cutter,
    fit,
    rows_in_sight,
    scale_of,
    setting_of,
)
from tokenloop_widgets.drawing.through_told import told_of_candidate, told_of_column
from tokenloop_widgets.palette import Palette

CUT, GONE = "×", "·"


def through_strips(
    choice: Choice | None,
    width: int,
    height: int,
    palette: Palette,
    *,
    candidates: Sequence[Candidate] | None = None,
    sight: Sight | None = None,
    placeholder: str = "",
) -> list[Strip]:
    """Draw the table.

    Args:
        choice: the distribution and its chain, or ``None`` for the placeholder.
        width: in cells.
        height: in lines.
        palette: the colours.
        candidates: the rows where they are not the choice's own, best first: what a search found.
        sight: which part, and what is highlighted.
        placeholder: said where there is nothing to draw.
    """
    soft = palette.on(palette.soft)
    rows = choice.candidates if choice is not None and candidates is None else candidates or ()
    if choice is None or not rows:
        return placeholder_strips(placeholder, width, height, soft)
    sight = sight or Sight()
    table = _Table(choice, rows, width, height, palette, sight, whole=candidates is None)
    return fill_height(table.strips(), width, height, soft)


class _Table:
    """One drawing of the table: the data and the layout that its lines share."""

    def __init__(
        self,
        choice: Choice,
        rows: Sequence[Candidate],
        width: int,
        height: int,
        palette: Palette,
        sight: Sight,
        *,
        whole: bool,
    ) -> None:
        self.choice, self.rows, self.width, self.palette = choice, rows, width, palette
        self.sight, self.whole = sight, whole
        self.columns = columns_of(choice, every=sight.every)
        self.heights = Heights.fit(height, tail=whole)
        body = self.heights.body(height)
        self.window = rows_in_sight(choice, rows, body, sight.top, whole=whole)
        self.spare = body - len(self.window)
        most = max([choice.chosen.rank, *(row.candidate.rank for row in self.window)])
        self.layout: Layout = fit(width, choice, self.columns, most=most, left=sight.left)
        self.scale = scale_of(choice, rows)
        self.soft, self.faint = palette.on(palette.soft), palette.on(palette.faint)

    def strips(self) -> list[Strip]:
        """Header, candidates, tail, what is told of the highlighted stage and candidate."""
        strips = [*self.head(), *map(self.row, self.window)]
        if self.heights.tail:
            strips.append(self.tail())
        if self.heights.told:
            blank = Line(self.width, self.soft).strip()
            strips += [blank] * (self.spare + 1)
            column = self.columns[min(self.sight.column, len(self.columns) - 1)]
            told = (
                told_of_column(self.choice, column, self.palette),
                told_of_candidate(self.choice, self.highlighted(), self.palette),
            )
            for items in told[: self.heights.told]:
                line = Line(self.width, self.soft).skip(MARKS)
                strips.append(parts(line, items, gap=2).strip())
        return strips

    def highlighted(self) -> Candidate:
        """The candidate under the cursor; without one the marked draw, or the best one found."""
        row = self.sight.row
        if row is not None and row < len(self.rows):
            return self.rows[row]
        return self.rows[0] if self.rows and not self.whole else self.choice.chosen

    # the header

    def head(self) -> list[Strip]:
        """Names, settings, survivors, mass and entropy: a line each, as far as there is room."""
        heights = self.heights
        lines: list[Strip] = []
        if heights.names:
            lines.append(self.names())
        if heights.settings:
            settings = [setting_of(c.record) if c.record else "" for c in self.columns]
            lines.append(self.headings("setting", settings, coloured=True))
        if heights.survivors:
            left = [count(left_by(c, self.choice)) for c in self.columns]
            lines.append(self.headings("candidates left", left, coloured=True))
        if heights.mass:
            left = [percent(mass) for mass in masses(self.columns, self.choice)]
            lines.append(self.headings("mass left", left))
        if heights.entropy:
            entropies = [entropy_of(c, self.choice) for c in self.columns]
            lines.append(self.headings("entropy in bits", entropies))
        return lines

    def names(self) -> Strip:
        layout, palette = self.layout, self.palette
        line = self.begin("stage")
        for number, placed in enumerate(layout.placed):
            column = self.columns[placed.index]
            cursor = placed.index == self.sight.column
            style = palette.on(
                self.colour(column),
                bold=True,
                underline=cursor,
                background=palette.cursor if cursor else palette.ground,
            )
            room = placed.width - GAP
            line.add(self.edge(number), self.soft)
            name = f"▾{column.name}" if cursor else column.name
            # The name stands above its figures, which are right-aligned where there is no bar.
            if self.layout.bar:
                line.left(name, style, room)
            else:
                line.skip(max(0, room - width_of(name))).left(
                    name, style, min(room, width_of(name))
                )
        if layout.after and len(self.columns) - 1 not in layout.shown:
            line.fits(" ›", self.soft)
        return line.strip()

    def edge(self, number: int) -> str:
        """``‹`` or ``›`` before a column where stages lie beyond the edge there."""
        layout = self.layout
        index = layout.placed[number].index
        if layout.before and index == layout.before + 1:
            return "‹ "
        final = index == len(self.columns) - 1
        return " ›" if layout.after and final and index else "  "

    def headings(self, name: str, texts: Sequence[str], *, coloured: bool = False) -> Strip:
        line = self.begin(name)
        for placed in self.layout.placed:
            colour = self.colour(self.columns[placed.index]) if coloured else self.palette.soft
            line.skip(GAP)
            self.place(line, texts[placed.index], self.palette.on(colour), placed.width)
        return line.strip()

    def begin(self, name: str) -> Line:
        """A header's line with its name, up to where the columns begin."""
        line = Line(self.width, self.soft).skip(MARKS)
        room = self.layout.rank + 1 + self.layout.label if self.layout.rank else self.layout.label
        return line.left(first_fitting((name, name.split()[0]), room), self.faint, room)

    def colour(self, column: Column) -> str:
        """Blue is the model's, amber the sampler's, grey what did nothing."""
        if column.stage == MODEL:
            return self.palette.model
        acted = column.record is None or column.record.skipped is None
        return self.palette.sampler if acted else self.palette.faint

    # the candidates

    def row(self, row: Row) -> Strip:
        palette, layout, candidate = self.palette, self.layout, row.candidate
        highlighted = row.index >= 0 and row.index == self.sight.row
        chosen = candidate.id == self.choice.chosen.id
        behind = palette.cursor if highlighted else palette.ground
        plain = palette.on(palette.soft, background=behind)
        line = Line(self.width, plain)
        line.add("▌" if highlighted else " ", palette.on(palette.text, background=behind))
        line.add("▸" if chosen else " ", palette.on(palette.sampler, background=behind))
        if layout.rank:
            line.right(str(candidate.rank), plain, layout.rank).skip(1)
        cut = cutter(candidate, self.choice)
        words = palette.faint if cut is not None and not highlighted else palette.text
        style = palette.on(words, bold=chosen, underline=candidate.special, background=behind)
        line.left(candidate.label, style, layout.label)
        for placed in layout.placed:
            self.cell(line, candidate, cut, placed.index, placed.width, behind, plain)
        return line.strip()

    def cell(
        self,
        line: Line,
        candidate: Candidate,
        cut: int | None,
        index: int,
        width: int,
        behind: str,
        plain: Style,
    ) -> None:
        """A candidate's probability after a stage, or where it was cut."""
        palette, column = self.palette, self.columns[index]
        line.skip(GAP)
        room = width - GAP
        gone = palette.on(palette.faint, background=behind)
        if column.stage == FINAL and candidate.cut_by is not None:
            name = first_fitting((stage_name(candidate.cut_by), "cut"), room)
            self.place(line, name, gone, width)
            return
        if cut is not None and column.stage >= cut:
            mark = f"{CUT} cut" if column.stage == cut else GONE
            self.place(line, mark, gone, width)
            return
        p = column.p(candidate)
        colour = self.colour(column)
        bar_width = self.layout.bar
        if p is None or bar_width:
            line.right(percent(p), palette.on(colour, background=behind), PERCENT_WIDTH).skip(1)
            if p is not None:
                track = behind if behind != palette.ground else palette.track
                line.extend(bar(p / self.scale, bar_width, colour, track))
            line.skip(room - PERCENT_WIDTH - 1 - bar_width)
            return
        shade = heat(p, colour, palette.track if behind == palette.ground else behind)
        line.right("", plain, room - PERCENT_WIDTH - 1)
        ink = palette.on(palette.text, background=shade)
        line.add(f" {percent(p):>{PERCENT_WIDTH}}"[-min(room, PERCENT_WIDTH + 1) :], ink)

    def place(self, line: Line, text: str, style: Style, width: int) -> None:
        """A word in a cell, where its figure would stand."""
        room = width - GAP
        if self.layout.bar:
            line.right(text, style, max(PERCENT_WIDTH, width_of(text)))
            line.skip(room - max(PERCENT_WIDTH, width_of(text)))
        else:
            line.right(text, style, room)

    def tail(self) -> Strip:
        """What is below the last row: a count, and its probability in each column."""
        layout, palette = self.layout, self.palette
        last = max((row.index for row in self.window), default=-1)
        above = list(self.rows[: last + 1])
        pinned = [row.candidate for row in self.window if row.index < 0]
        above += [candidate for candidate in pinned if candidate.rank > last + 1]
        number = self.choice.vocab_size - len(above)
        line = Line(self.width, self.soft).skip(MARKS)
        if layout.rank:
            line.right("…", self.soft, layout.rank).skip(1)
        more = (f"{count(number)} more", f"+{count(number)}", "more")
        line.left(
            first_fitting(more, layout.label) if number else "no more", self.soft, layout.label
        )
        for placed in layout.placed:
            column = self.columns[placed.index]
            p = max(0.0, 1.0 - sum(column.p(candidate) or 0.0 for candidate in above))
            line.skip(GAP)
            text = percent(p) if p > 1e-9 else GONE
            ink = palette.on(self.colour(column) if p > 1e-9 else palette.faint)
            self.place(line, text, ink, placed.width)
        return line.strip()
