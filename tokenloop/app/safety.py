"""The second wall between a model's bytes and the terminal.

Labels make controls visible where text is born. This filter is for whatever was forgotten: it sees
every line on its way out, and lets no control character pass.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.segment import Segment
from textual.filter import LineFilter

if TYPE_CHECKING:
    from textual.color import Color

# C0 and DEL, C1, bidirectional marks, embeddings, overrides and isolates, line separators, BOM.
UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]"
)


def strip_controls(text: str) -> str:
    """``text`` without characters that could steer a terminal.

    They take no cells, so leaving them out keeps a line's width. A lone surrogate takes one and
    can't be encoded: it becomes U+FFFD.
    """
    return UNSAFE.sub(lambda found: "\ufffd" if "\ud800" <= found[0] <= "\udfff" else "", text)


class ControlFilter(LineFilter):
    """Takes control characters out of every line that is drawn."""

    def apply(self, segments: list[Segment], background: Color) -> list[Segment]:
        """Return the segments with unsafe characters taken out."""
        if not any(UNSAFE.search(segment.text) for segment in segments):
            return segments
        return [
            segment if segment.control else Segment(strip_controls(segment.text), segment.style)
            for segment in segments
        ]
