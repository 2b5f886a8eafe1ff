from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from tests.widgets.strategies import caches
from tests.widgets.strips import lines
from tokenloop.records import CacheRecord
from tokenloop_widgets.drawing.cache import (
    COMPUTED,
    FREE,
    KEPT,
    NEXT,
    cache_cells,
    cache_strips,
    cell_scale,
)
from tokenloop_widgets.palette import Palette

CACHE = CacheRecord(
    positions=6,
    bytes=6 * 46_080,
    allocated_bytes=256 * 46_080,
    kept=5,
    computed=1,
    dtype="float32",
    bytes_per_position=46_080,
    context_length=8192,
    layers=30,
    kv_heads=3,
    head_dim=64,
    itemsize=4,
)


def test_kept_computed_next_and_free_are_told_by_glyph() -> None:
    assert cache_cells(CACHE, 10) == KEPT * 5 + COMPUTED + NEXT + FREE * 3
    assert cache_cells(CACHE, 10, next_step=False) == KEPT * 5 + COMPUTED + FREE * 4


def test_after_a_rewind_nothing_is_computed() -> None:
    rewound = structs.replace(CACHE, positions=4, kept=4, computed=0)
    assert cache_cells(rewound, 8) == KEPT * 4 + NEXT + FREE * 3


def test_a_full_context_has_no_next_step(dark: Palette) -> None:
    full = structs.replace(CACHE, positions=8, kept=7, computed=1, context_length=8)
    assert cache_cells(full, 20) == KEPT * 7 + COMPUTED
    assert "context full: rewind or edit to go on" in lines(cache_strips(full, 60, 6, dark))[5]


@given(st.integers(0, 10**6), st.integers(1, 300))
def test_the_scale_is_the_smallest_power_of_two_that_shows_all(positions: int, cells: int) -> None:
    scale = cell_scale(positions, cells)
    assert scale * cells >= positions
    assert scale & (scale - 1) == 0
    assert scale == 1 or scale // 2 * cells < positions


@given(caches(), st.integers(1, 300))
def test_the_cells_show_all_positions(cache: CacheRecord, cells: int) -> None:
    glyphs = cache_cells(cache, cells)
    scale = cell_scale(cache.positions + (cache.positions < cache.context_length), cells)
    held = glyphs.count(KEPT) + glyphs.count(COMPUTED)
    assert len(glyphs) <= cells
    assert (held - 1) * scale < cache.positions <= held * scale
    assert glyphs == "".join(glyph * glyphs.count(glyph) for glyph in (KEPT, COMPUTED, NEXT, FREE))
    assert (COMPUTED in glyphs) == (cache.positions > cache.kept)


@pytest.mark.parametrize(("positions", "said"), [(40, False), (400, True), (8000, True)])
def test_a_scaled_row_says_what_a_cell_is(positions: int, said: bool, dark: Palette) -> None:
    cache = structs.replace(CACHE, positions=positions, kept=positions - 1)
    text = "\n".join(lines(cache_strips(cache, 90, 5, dark)))
    assert ("1 cell = " in text) is said


def test_more_rows_before_a_scale_where_there_is_room(dark: Palette) -> None:
    cache = structs.replace(CACHE, positions=200, kept=199)
    text = lines(cache_strips(cache, 90, 12, dark))
    assert sum(line.count(KEPT) for line in text[1:4]) == 199
    assert not any("1 cell = " in line for line in text)


def test_the_bytes_are_told_with_where_they_come_from(dark: Palette) -> None:
    text = lines(cache_strips(CACHE, 90, 6, dark))
    assert text[0].rstrip() == "6 of 8,192 positions   270 KiB held   11.2 MiB allocated"
    assert "45.0 KiB a position = 30 layers × 3 heads × 64 × K,V × 4 B" in text[4]
    assert "next step: keeps 6, computes 1, +45.0 KiB" in text[5]
    assert "= 30 × 3 × 64 × K,V × 4 B" in "\n".join(lines(cache_strips(CACHE, 46, 6, dark)))
