"""Cells: measuring, clipping and laying text out on one line of a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

_JOINERS = frozenset("\u200c\u200d")


def safe(text: str) -> str:
    """``text`` with whatever could steer a terminal replaced by U+FFFD.

    Labels arrive safe; this is the second wall. It also keeps a label from joining its neighbours:
    a lone combining mark gets something to stand on, a joiner at an end is replaced.
    """
    if not text.isprintable():
        text = "".join(c if c.isprintable() or c in _JOINERS else "\ufffd" for c in text)
    if text and text[-1] in _JOINERS:
        text = text[:-1] + "\ufffd"
    if text and cell_len(text[0]) == 0:
        text = "\ufffd" + text[1:] if text[0] in _JOINERS else "◌" + text
    return text


def width_of(text: str) -> int:
    """Cells that ``text`` takes when printed as one piece (not the sum of its characters)."""
    return cell_len(text)


def clip(text: str, width: int) -> str:
    """``text``, or as much of it as fits in ``width`` cells with an ellipsis at the end.

    Never splits a wide character: what is returned may be one cell narrower than ``width``.
    """
    if cell_len(text) <= width:
        return text
    return head(text, width - 1) + "…" if width > 0 else ""


def clip_words(text: str, width: int) -> str:
    """``text``, or its first words that fit with an ellipsis behind them: no figure is cut."""
    if cell_len(text) <= width:
        return text
    words = text.split(" ")
    shorter = (" ".join([*words[:n], "…"]) for n in range(len(words) - 1, -1, -1))
    return next((way for way in shorter if cell_len(way) <= width), "")


def head(text: str, width: int) -> str:
    """The longest beginning of ``text`` that fits in ``width`` cells."""
    end = min(len(text), max(0, width) * 4)
    while end > 0 and cell_len(text[:end]) > width:
        end -= 1
    return text[:end]


def chop(text: str, width: int) -> list[str]:
    """``text`` in pieces of at most ``width`` cells; a character that is wider becomes ``…``."""
    pieces = []
    while text:
        piece = head(text, width)
        pieces.append(piece or "…")
        text = text[max(1, len(piece)) :]
    return pieces


class Line:
    """One line, filled from left to right, never wider than its width.

    Args:
        width: in cells.
        fill: the style of what stays empty.
    """

    __slots__ = ("_segments", "at", "fill", "width")

    def __init__(self, width: int, fill: Style) -> None:
        self.width = width
        self.fill = fill
        self.at = 0
        self._segments: list[Segment] = []

    @property
    def room(self) -> int:
        """Cells left to the right end."""
        return self.width - self.at

    def add(self, text: str, style: Style) -> Line:
        """Append text, clipped with an ellipsis where it doesn't fit."""
        if text and self.room > 0:
            text = clip(safe(text), self.room)
            self._segments.append(Segment(text, style))
            self.at += cell_len(text)
        return self

    def fits(self, text: str, style: Style) -> bool:
        """Append text only where all of it fits; say whether it did."""
        if cell_len(text) > self.room:
            return False
        self.add(text, style)
        return True

    def to(self, column: int) -> Line:
        """Leave blank up to ``column``."""
        blank = min(column, self.width) - self.at
        if blank > 0:
            self._segments.append(Segment(" " * blank, self.fill))
            self.at += blank
        return self

    def skip(self, cells: int) -> Line:
        """Leave ``cells`` blank."""
        return self.to(self.at + cells)

    def right(self, text: str, style: Style, width: int) -> Line:
        """Append a figure right-aligned in the next ``width`` cells.

        Half a figure would be another one: where it doesn't fit, an ellipsis stands for it.
        """
        text, width = safe(text), min(width, self.room)
        if cell_len(text) > width:
            text = clip("…", width)
        return self.skip(width - cell_len(text)).add(text, style)

    def left(self, text: str, style: Style, width: int) -> Line:
        """Append text left-aligned in the next ``width`` cells."""
        end = self.at + width
        return self.add(clip(safe(text), width), style).to(end)

    def extend(self, segments: Iterable[Segment]) -> Line:
        """Append ready segments (of a bar) that the caller has measured to fit."""
        for segment in segments:
            self.add(segment.text, segment.style or self.fill)
        return self

    def strip(self) -> Strip:
        """The finished line, padded to its width."""
        self.to(self.width)
        return Strip(self._segments, max(0, self.width))


def fill_height(strips: Sequence[Strip], width: int, height: int, style: Style) -> list[Strip]:
    """Exactly ``height`` strips: the first ones, or blank ones added below."""
    blank = Strip([Segment(" " * width, style)] if width > 0 else [], max(0, width))
    return [*strips[: max(0, height)], *[blank] * (height - len(strips))]


def placeholder_strips(text: str, width: int, height: int, style: Style) -> list[Strip]:
    """What is said where there is nothing to draw."""
    return fill_height([Line(width, style).add(text, style).strip()], width, height, style)


def parts(line: Line, items: Sequence[tuple[str, Style]], gap: int = 3) -> Line:
    """Append as many whole items as fit, ``gap`` cells between them."""
    for text, style in items:
        if not text:
            continue
        space = gap if line.at else 0
        if line.room < space + cell_len(text):
            break
        line.skip(space).add(text, style)
    return line


def first_fitting(texts: Sequence[str], width: int) -> str:
    """The first of several ways to say the same that fits; nothing where none does."""
    return next((text for text in texts if cell_len(text) <= width), "")
