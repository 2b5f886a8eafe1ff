"""The loop detector."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.session.conftest import OPEN
from tokenloop.sampling import SamplerSettings
from tokenloop.session import Session
from tokenloop.session.laboratory.repetition import LONGEST, Loop, find_loop

if TYPE_CHECKING:
    from pathlib import Path

LINE = [9, 8, 7, 6, 5, 4]


@pytest.mark.parametrize(
    ("ids", "loop"),
    [
        ([1, 2, *LINE, *LINE], Loop(6, 2, 2)),
        ([*LINE, *LINE, *LINE], Loop(6, 3, 0)),
        ([1, *LINE, *LINE, 9, 8], Loop(6, 2, 1)),
        ([3, 5, 5, 5, 5, 5, 5], Loop(1, 6, 1)),
        ([1, 2, 1, 2, 1, 2], Loop(2, 3, 0)),
        ([0, 1, 2, 3, 1, 2, 3, 1, 2, 3], Loop(3, 3, 1)),
        # "ha ha ha", "New York, New York", a line that was said once or is over.
        ([1, 5, 5, 5], None),
        ([1, 2, 3, 1, 2, 3], None),
        ([1, 2, 3, 4, 5, 1, 2, 3, 4, 5], None),
        ([1, 2, *LINE, 3], None),
        ([*LINE, *LINE, 3], None),
        ([], None),
        ([1], None),
    ],
)
def test_what_is_a_loop_and_what_is_not(ids: list[int], loop: Loop | None) -> None:
    assert find_loop(ids) == loop


small = st.lists(st.integers(0, 2), max_size=40)


def brute_force(ids: list[int]) -> Loop | None:
    for period in range(1, len(ids) // 2 + 1):
        length = period
        while length < len(ids) and ids[-1 - length] == ids[-1 - length + period]:
            length += 1
        times = length // period
        if length >= 6 and (times >= 3 or (times == 2 and period >= 6)):
            return Loop(period, times, len(ids) - length)
    return None


@given(small)
def test_it_is_the_smallest_period(ids: list[int]) -> None:
    assert find_loop(ids) == brute_force(ids)


@given(small, st.lists(st.integers(3, 5), min_size=6, max_size=12), st.integers(2, 4))
def test_a_long_enough_period_is_always_found(before: list[int], once: list[int], times: int):
    loop = find_loop([*before, *(once * times)])
    assert loop is not None
    assert len(once) % loop.period == 0 or loop.period < len(once)


def test_very_long_periods_are_not_looked_for() -> None:
    once = list(range(LONGEST + 1))
    assert find_loop(once * 2) is None
    assert find_loop(once[1:] * 2) == Loop(LONGEST, 2, 0)


def test_a_session_says_what_repeats_and_how_certain_the_model_is(session: Session) -> None:
    assert session.snapshot().repetition is None
    start = len(session.ids)
    for letter in "abcabcabc":
        session.force(session.encode(letter)[0])
    found = session.snapshot().repetition
    assert (found.period, found.times, found.start, found.text) == (3, 3, start, "abc")
    entropies = [session.look(start + place).entropy_bits for place in range(9)]
    assert found.entropy_before_bits == pytest.approx(sum(entropies[:3]) / 3)
    assert found.entropy_bits == pytest.approx(sum(entropies[-3:]) / 3)
    session.rewind()
    assert session.snapshot().repetition is None


def test_given_text_counts_and_the_first_token_has_no_entropy(session: Session) -> None:
    session.open(session.encode("abcdef") * 2)
    found = session.snapshot().repetition
    assert (found.start, found.period) == (0, 6)
    entropies = [session.look(place).entropy_bits for place in range(1, 6)]
    assert found.entropy_before_bits == pytest.approx(sum(entropies) / 5)


@pytest.mark.real
def test_the_default_model_repeats_a_line_under_greedy(real_model_path: Path) -> None:
    from tokenloop_models import load

    session = Session(load(real_model_path, device="cpu"), settings=OPEN.replace(temperature=0))
    session.open(session.encode("Roses are red,\nviolets are"))
    for _ in range(40):
        session.step()
        found = session.snapshot().repetition
        if found is not None and found.times == 4:
            break
    assert found is not None
    assert "⏎" in found.text
    assert found.entropy_bits < found.entropy_before_bits
    session.configure(SamplerSettings(temperature=1.5, top_p=1.0, min_p=0.0))
    session.rewind(30)
    for _ in range(30):
        session.step()
    assert session.snapshot().repetition is None
