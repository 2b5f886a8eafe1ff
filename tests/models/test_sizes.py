"""Bytes for people step up their units, and agree with those of the panels."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenloop_models.sizes import file_size, memory_size
from tokenloop_widgets.drawing.figures import size


@pytest.mark.parametrize(
    ("n", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (97_500_000, "98 MB"),
        (999_600_000, "1.0 GB"),
        (4_920_000_000, "4.9 GB"),
        (140_000_000_000, "140 GB"),
        (5_000_000_000_000_000, "5,000 TB"),
    ],
)
def test_file_size(n: int, text: str) -> None:
    assert file_size(n) == text


@pytest.mark.parametrize(
    ("n", "text"), [(276_480, "270 KiB"), (46_080, "45.0 KiB"), (8192 * 46_080, "360 MiB")]
)
def test_memory_size(n: int, text: str) -> None:
    assert memory_size(n) == text


@given(st.integers(0, 10**15))
def test_memory_reads_the_same_in_a_table_and_in_a_panel(n: int) -> None:
    assert memory_size(n) == size(n)
