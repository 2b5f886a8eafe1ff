"""Where each token of the text stands: laid out once, then only extended."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tokenloop.records import PrefixToken, Token
from tokenloop_widgets.drawing.cells import chop, safe, width_of
from tokenloop_widgets.drawing.figures import short_percent

SHORT_PERCENT_WIDTH = 4


@dataclass(frozen=True, slots=True)
class Run:
    """A token (or, of one wider than a row, a piece) on a row.

    Attributes:
        position: of the token in the prefix.
        column: its first cell; the cell before it is for a mark.
        text: what is printed.
        width: cells it takes with the padding that its probability below needs.
        first: whether this is the token's first piece.
    """

    position: int
    column: int
    text: str
    width: int
    first: bool


class TextLayout:
    """Rows of token runs, wrapped at token bounds.

    Each run has one cell before it for a mark (forced, cursor, whose text begins), and the last
    cell of a row is kept for the mark that closes a run. Extending 8,000 tokens by one costs as
    much as comparing them with those laid out before.

    Args:
        width: cells of a row.
        probabilities: leave room under each token for its probability.
    """

    def __init__(self, width: int, *, probabilities: bool = False) -> None:
        self.width = width
        self.probabilities = probabilities
        self.rows: list[list[Run]] = [[]]
        self._tokens: list[PrefixToken] = []
        self._column = 0
        self._broken = False  # the last token ended its line

    def update(self, prefix: Sequence[PrefixToken]) -> None:
        """Lay out ``prefix``, keeping what it has in common with the one before."""
        common = 0
        for old, new in zip(self._tokens, prefix, strict=False):
            if old is not new and old != new:
                break
            common += 1
        if common < len(self._tokens):
            self._truncate(common)
        for item in prefix[common:]:
            self._append(item)

    def row_of(self, position: int) -> int:
        """The row on which a token begins (bisection over the rows' first runs)."""
        low, high = 0, len(self.rows) - 1
        while low < high:
            middle = (low + high + 1) // 2
            row = self.rows[middle]
            begins = row[0].position + (not row[0].first) if row else len(self._tokens)
            if begins <= position:
                low = middle
            else:
                high = middle - 1
        return low

    def position_at(self, column: int, row: int) -> int | None:
        """The token printed at a cell, or ``None``."""
        if not 0 <= row < len(self.rows):
            return None
        for run in self.rows[row]:
            if run.column <= column < run.column + run.width:
                return run.position
        return None

    def end(self) -> tuple[int, int]:
        """(row, column) where the next token's mark would stand."""
        return (len(self.rows), 0) if self._broken else (len(self.rows) - 1, self._column)

    def _append(self, item: PrefixToken) -> None:
        if self._broken:
            self._new_row()
        position = len(self._tokens)
        text = safe(item.token.label)
        least = SHORT_PERCENT_WIDTH if self.probabilities else 1
        width = max(least, width_of(text))
        if self._column and self._column + 1 + width > self.width - 1:
            self._new_row()
        inside = max(1, self.width - 2)
        pieces = [text] if width <= inside else chop(text, inside)
        for number, piece in enumerate(pieces):
            if number:
                self._new_row()
            padded = max(width_of(piece), min(least, inside) if number == 0 else 1)
            column = min(self._column + 1, max(0, self.width - padded))
            self.rows[-1].append(Run(position, column, piece, padded, number == 0))
            self._column = column + padded
        self._tokens.append(item)
        self._broken = _ends_line(item.token)

    def _new_row(self) -> None:
        self.rows.append([])
        self._column = 0
        self._broken = False

    def _truncate(self, length: int) -> None:
        del self._tokens[length:]
        while self.rows and (not self.rows[-1] or self.rows[-1][-1].position >= length):
            row = [run for run in self.rows.pop() if run.position < length]
            if row:
                self.rows.append(row)
                break
        if not self.rows:
            self.rows.append([])
        last = self.rows[-1][-1] if self.rows[-1] else None
        self._column = last.column + last.width if last else 0
        self._broken = bool(self._tokens) and _ends_line(self._tokens[-1].token)


def _ends_line(token: Token) -> bool:
    """Whether its last byte is a newline (0a): its line ends after its own glyph."""
    return token.bytes_hex.endswith("0a") and not token.special


def under(item: PrefixToken, width: int) -> str:
    """The probability printed under a token, in at most ``width`` cells."""
    text = short_percent(item.p)
    return text if len(text) <= width else ""
