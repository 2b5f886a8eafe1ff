"""The laboratory's drawings, at any size, of any data: exact lines, nothing but text."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from tests.widgets.laboratory import comparisons, draws, sweeps, traced, watch_lists
from tests.widgets.strategies import labels
from tests.widgets.strips import check
from tokenloop.records import Choice, Comparison, DrawsRecord, SweepRecord
from tokenloop_widgets.drawing.comparison import comparison_strips
from tokenloop_widgets.drawing.draws import draws_strips
from tokenloop_widgets.drawing.sweep import sweep_strips
from tokenloop_widgets.drawing.through import through_strips
from tokenloop_widgets.drawing.through_layout import Sight
from tokenloop_widgets.drawing.watch import watch_strips
from tokenloop_widgets.palette import DARK, Palette
from tokenloop_widgets.recorded import read_laboratory

PALETTE = Palette.from_theme(DARK)

widths = st.one_of(st.integers(0, 12), st.integers(0, 200))
heights = st.integers(0, 50)


@given(traced() | st.none(), widths, heights, labels, st.data())
def test_through(
    choice: Choice | None, width: int, height: int, placeholder: str, data: st.DataObject
) -> None:
    last = len(choice.candidates) - 1 if choice else 0
    sight = Sight(
        top=data.draw(st.integers(0, last)),
        left=data.draw(st.integers(0, 12)),
        row=data.draw(st.none() | st.integers(0, last)),
        column=data.draw(st.integers(0, 12)),
        every=data.draw(st.booleans()),
    )
    found = data.draw(st.none() | st.just(choice.candidates[:2] if choice else ()))
    strips = through_strips(
        choice, width, height, PALETTE, candidates=found, sight=sight, placeholder=placeholder
    )
    check(strips, width, height)


@given(draws() | st.none(), widths, heights, labels, st.data())
def test_draws(
    record: DrawsRecord | None, width: int, height: int, placeholder: str, data: st.DataObject
) -> None:
    rows = len(record.counts) if record else 0
    strips = draws_strips(
        record,
        width,
        height,
        PALETTE,
        top=data.draw(st.integers(0, rows)),
        highlighted=data.draw(st.none() | st.integers(0, rows - 1)) if rows else None,
        choice=data.draw(st.none() | traced()),
        placeholder=placeholder,
    )
    check(strips, width, height)


@given(sweeps() | st.none(), widths, heights, labels, st.none() | st.integers(0, 12))
def test_sweep(
    record: SweepRecord | None, width: int, height: int, placeholder: str, cursor: int | None
) -> None:
    strips = sweep_strips(record, width, height, PALETTE, cursor=cursor, placeholder=placeholder)
    check(strips, width, height)


@given(comparisons() | st.none(), widths, heights, labels, st.data())
def test_comparison(
    comparison: Comparison | None, width: int, height: int, placeholder: str, data: st.DataObject
) -> None:
    rows = len(comparison.candidates) if comparison else 0
    strips = comparison_strips(
        comparison,
        width,
        height,
        PALETTE,
        top=data.draw(st.integers(0, rows)),
        highlighted=data.draw(st.none() | st.integers(0, rows)),
        side=data.draw(st.sampled_from([None, 0, 1])),
        placeholder=placeholder,
    )
    check(strips, width, height)


@given(st.data(), st.integers(0, 60), widths, heights, labels)
def test_watch_list(
    data: st.DataObject, now: int, width: int, height: int, placeholder: str
) -> None:
    watched = data.draw(watch_lists(now))
    strips = watch_strips(
        watched,
        now,
        width,
        height,
        PALETTE,
        top=data.draw(st.integers(0, len(watched))),
        highlighted=data.draw(st.none() | st.integers(0, len(watched))),
        placeholder=placeholder,
    )
    check(strips, width, height)


def test_the_smallest_sizes_of_recorded_answers() -> None:
    laboratory = read_laboratory()
    for width, height in product(range(6), range(20)):
        size = (width, height, PALETTE)
        for strips in (
            through_strips(laboratory.choices[0], *size),
            draws_strips(laboratory.draws[0], *size),
            sweep_strips(laboratory.sweeps[0], *size),
            comparison_strips(laboratory.comparisons[0], *size, side=0),
            watch_strips(laboratory.watched, laboratory.position, *size),
        ):
            check(strips, width, height)
