"""What the window of the stages lists and changes, without a screen."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenloop.app.sampler.dials import Dials
from tokenloop.app.sampler.fields import fields_of
from tokenloop.app.sampler.rows import (
    NEUTRAL,
    ON,
    is_neutral,
    moved,
    rows_of,
    switched,
    with_defaults,
)
from tokenloop.app.sampler.writing import read_breakers, write_breakers
from tokenloop.sampling import ORDERS, PARAMETERS, STAGES, SamplerSettings, Situation
from tokenloop.sampling.stages import Context

EVERY = ORDERS["llamacpp"]


def off_by_value(stage: str, settings: SamplerSettings) -> bool:
    """Whether the stage itself says that its settings turn it off."""
    context = Context(settings, Situation(prefix=(1, 2)), vocab_size=100)
    return STAGES[stage].why_off(context) is not None


def test_every_setting_stands_in_one_row() -> None:
    names = [field.name for row in rows_of(SamplerSettings()) for field in row.fields]
    assert len(set(names)) == len(names)
    parts = {"order", "stages", "off", "grammar"}
    special = {"order", "seed", "grammar_kind", "grammar_text"}
    assert set(names) == (set(SamplerSettings.__struct_fields__) - parts) | special
    assert set(PARAMETERS) <= set(names)


def test_rows_follow_the_chain_and_keep_what_is_not_in_it() -> None:
    rows = rows_of(SamplerSettings(stages=("temperature", "top_k")))
    assert [row.name for row in rows[:2]] == ["temperature", "top_k"]
    assert {row.name for row in rows if row.stage} == set(EVERY)
    assert [row.name for row in rows if row.stage and row.in_chain] == ["temperature", "top_k"]


@pytest.mark.parametrize("stage", sorted(NEUTRAL))
def test_neutral_is_what_the_stage_itself_calls_off(stage: str) -> None:
    neutral = SamplerSettings().replace(**NEUTRAL[stage])
    assert is_neutral(neutral, stage)
    assert off_by_value(stage, neutral)


@pytest.mark.parametrize("stage", sorted(ON))
def test_switching_on_makes_a_stage_run_and_switching_off_keeps_its_value(stage: str) -> None:
    settings = SamplerSettings().replace(**NEUTRAL.get(stage, {}), off=(stage,))
    on = switched(settings, stage)
    assert on.runs(stage)
    assert not off_by_value(stage, on)
    off = switched(on, stage)
    assert not off.runs(stage)
    assert off.replace(off=()) == on
    assert switched(off, stage) == on


def test_a_stage_that_is_not_in_the_chain_comes_to_its_end() -> None:
    settings = switched(SamplerSettings(stages=("top_k",)), "temperature")
    assert settings.stages == ("top_k", "temperature")


@given(st.permutations(EVERY), st.sampled_from(EVERY), st.sampled_from([-1, 1]))
def test_a_move_swaps_neighbours_and_loses_none(chain: list[str], stage: str, by: int) -> None:
    before = SamplerSettings(stages=tuple(chain))
    after = moved(before, stage, by)
    assert sorted(after.chain) == sorted(before.chain)
    here = chain.index(stage)
    there = min(max(0, here + by), len(chain) - 1)
    assert after.chain[there] == stage
    assert moved(after, stage, -by).chain == before.chain or here == there


def test_defaults_bring_a_row_back_and_leave_the_others() -> None:
    settings = SamplerSettings(temperature=2.0, xtc_probability=0.5, off=("xtc", "top_k"))
    row = next(row for row in rows_of(settings) if row.name == "xtc")
    assert with_defaults(settings, row) == SamplerSettings(temperature=2.0, off=("top_k",))


breakers = st.lists(st.text('ab :*\\\n\t"', min_size=1, max_size=4), max_size=5).map(tuple)


@given(breakers)
def test_breakers_come_back_as_they_were(texts: tuple[str, ...]) -> None:
    assert read_breakers(write_breakers(texts)) == texts


@pytest.mark.parametrize("stage", [*EVERY, ""])
def test_every_value_shown_is_read_back(stage: str) -> None:
    dials = Dials(SamplerSettings(), 7)
    for field in fields_of(stage):
        assert field.typed(field.shown(dials), dials) == dials


@pytest.mark.parametrize("stage", [*EVERY, ""])
def test_nudging_up_and_down_stays_possible(stage: str) -> None:
    for field in fields_of(stage):
        for direction in (1, -1):
            dials: Dials | None = Dials(SamplerSettings(), 7)
            for _ in range(40):
                assert dials is not None
                dials = field.nudged(dials, direction)
                if dials is None:
                    break
