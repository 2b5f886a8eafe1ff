"""The KV cache: positions as cells, and where its bytes come from."""

from __future__ import annotations

from collections.abc import Sequence

from rich.style import Style
from textual.strip import Strip

from tokenloop.records import CacheRecord
from tokenloop_widgets.drawing.cells import (
    Line,
    fill_height,
    first_fitting,
    parts,
    placeholder_strips,
)
from tokenloop_widgets.drawing.figures import count, size
from tokenloop_widgets.palette import Palette

KEPT, COMPUTED, NEXT, FREE = "▄", "█", "▁", "·"
MOST_ROWS = 8


def cell_scale(positions: int, cells: int) -> int:
    """How many positions one cell stands for: the smallest power of two that shows them all."""
    scale = 1
    while cells > 0 and positions > scale * cells:
        scale *= 2
    return scale


def cache_cells(cache: CacheRecord, cells: int, *, next_step: bool = True) -> str:
    """One glyph a cell: kept, computed by the last pass, the next step's, free.

    A cell that holds any computed position shows as computed.
    """
    full = cache.positions >= cache.context_length
    ahead = 0 if full or not next_step else 1
    scale = cell_scale(cache.positions + ahead, cells)
    kept = max(0, min(cache.kept, cache.positions))
    within = min(cells, -(-cache.context_length // scale))
    filled = min(within, -(-cache.positions // scale))
    bright = min(filled, kept // scale) if kept < cache.positions else filled
    glyphs = KEPT * bright + COMPUTED * (filled - bright)
    if ahead and filled < within and cache.positions % scale == 0:
        glyphs += NEXT
    return glyphs + FREE * (within - len(glyphs))


def cache_strips(
    cache: CacheRecord | None,
    width: int,
    height: int,
    palette: Palette,
    *,
    next_step: bool = True,
    placeholder: str = "",
) -> list[Strip]:
    """Draw the cache.

    Args:
        cache: what to draw, or ``None`` for the placeholder.
        width: in cells.
        height: in lines.
        palette: the colours.
        next_step: say what the next step will add (not for an earlier moment).
        placeholder: said where there is no cache.
    """
    soft = palette.on(palette.soft)
    if cache is None:
        return placeholder_strips(placeholder, width, height, soft)
    below = [_legend(cache, palette), _origin(cache, width, palette)]
    if next_step:
        below.append(_next_step(cache, width, palette))
    ahead = cache.positions + 1
    rows = max(1, min(MOST_ROWS, height - 1 - len(below), -(-ahead // max(1, width))))
    scale = cell_scale(ahead, width * rows)
    if scale > 1:
        below[0].append((f"1 cell = {count(scale)} positions", soft))
    glyphs = cache_cells(cache, width * rows, next_step=next_step)
    strips = [parts(Line(width, soft), _headline(cache, palette)).strip()]
    for start in range(0, width * rows, max(1, width)):
        strips.append(_cells_strip(glyphs[start : start + width], width, palette))
    lines = [parts(Line(width, soft), items).strip() for items in below]
    if height > len(strips) + len(lines):
        lines.insert(1, Line(width, soft).strip())
    return fill_height([*strips, *lines], width, height, soft)


Items = list[tuple[str, Style]]


def _headline(cache: CacheRecord, palette: Palette) -> Items:
    violet = palette.on(palette.memory, bold=True)
    return [
        (f"{count(cache.positions)} of {count(cache.context_length)} positions", violet),
        (f"{size(cache.bytes)} held", violet),
        (f"{size(cache.allocated_bytes)} allocated", palette.on(palette.soft)),
    ]


def _legend(cache: CacheRecord, palette: Palette) -> Items:
    return [
        (f"{COMPUTED} computed {count(cache.computed)}", palette.on(palette.memory)),
        (f"{KEPT} kept {count(cache.kept)}", palette.on(palette.memory_soft)),
    ]


def _origin(cache: CacheRecord, width: int, palette: Palette) -> Items:
    one = size(cache.bytes_per_position)
    layers, heads, dim = cache.layers, cache.kv_heads, cache.head_dim
    ways = (
        f"{one} a position = {layers} layers × {heads} heads × {dim} × K,V × {cache.itemsize} B",
        f"{one} each = {layers} layers × {heads} heads × {dim} × K,V × {cache.itemsize} B",
        f"{one} = {layers} × {heads} × {dim} × K,V × {cache.itemsize} B",
        f"{one} a position",
    )
    return [(first_fitting(ways, width), palette.on(palette.soft))]


def _next_step(cache: CacheRecord, width: int, palette: Palette) -> Items:
    if cache.positions >= cache.context_length:
        full = ("context full: rewind or edit to go on", "context full")
        return [(first_fitting(full, width), palette.on(palette.error, bold=True))]
    kept, more = count(cache.positions), size(cache.bytes_per_position)
    ways = (
        f"next step: keeps {kept}, computes 1, +{more}",
        f"next: keeps {kept}, computes 1",
        f"next: +{more}",
    )
    return [(first_fitting(ways, width), palette.on(palette.soft))]


def _cells_strip(glyphs: Sequence[str], width: int, palette: Palette) -> Strip:
    styles = {
        KEPT: palette.on(palette.memory_soft),
        COMPUTED: palette.on(palette.memory),
        NEXT: palette.on(palette.sampler),
        FREE: palette.on(palette.faint),
    }
    line = Line(width, palette.on(palette.soft))
    start = 0
    while start < len(glyphs):
        end = start
        while end < len(glyphs) and glyphs[end] == glyphs[start]:
            end += 1
        line.add(glyphs[start] * (end - start), styles[glyphs[start]])
        start = end
    return line.strip()
