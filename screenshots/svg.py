"""Makes an exported picture stand alone: no fonts from elsewhere, the same ids every time."""

from __future__ import annotations

import re

_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_FONT_FACE = re.compile(r"@font-face\s*\{.*?\}\s*", re.DOTALL)
_FONT_FAMILY = re.compile(r"font-family:\s*[^;]*;")
_IDS = re.compile(r"terminal-\d+")

FAMILY = "font-family: ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace;"


def tidy(svg: str) -> str:
    """The picture with a generic monospace family and stable ids.

    Args:
        svg: as Textual's ``export_screenshot`` gives it.

    Raises:
        ValueError: something in it still points to another machine.
    """
    svg = _FONT_FACE.sub("", _COMMENT.sub("", svg))
    svg = _FONT_FAMILY.sub(FAMILY, svg)
    svg = _IDS.sub("tokenloop", svg)
    # Blanks count in a terminal; not every viewer reads the style that says so.
    svg = svg.replace("<svg ", '<svg xml:space="preserve" ', 1)
    outside = re.sub(r'xmlns="[^"]*"', "", svg)
    if "http://" in outside or "https://" in outside:
        raise ValueError("the picture still refers to the network")
    return svg
