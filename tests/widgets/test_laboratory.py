"""What the laboratory's drawings say, on answers recorded from the real model."""

from __future__ import annotations

import pytest
from msgspec import structs

from tests.widgets.strips import check, lines
from tokenloop.records import DrawsRecord, StageRecord, WatchPoint
from tokenloop_widgets.drawing.comparison import comparison_strips
from tokenloop_widgets.drawing.draws import draws_strips, verdict
from tokenloop_widgets.drawing.figures import percent, stage_name
from tokenloop_widgets.drawing.scales import SCALES, scale_for
from tokenloop_widgets.drawing.sweep import sweep_strips
from tokenloop_widgets.drawing.tabs import tabs_strip
from tokenloop_widgets.drawing.through import through_strips
from tokenloop_widgets.drawing.through_layout import FINAL, MODEL, Sight, columns_of, fit
from tokenloop_widgets.drawing.watch import watch_strips
from tokenloop_widgets.palette import Palette
from tokenloop_widgets.recorded import Laboratory, Recording, read_laboratory


@pytest.fixture(scope="module")
def laboratory() -> Laboratory:
    return read_laboratory()


# through the stages


def test_columns_are_the_model_the_stages_that_acted_and_final(laboratory: Laboratory) -> None:
    choice = laboratory.choices[0]
    acted = columns_of(choice, every=False)
    assert [column.name for column in acted] == [
        "model",
        "top-k",
        "top-p",
        "min-p",
        "temperature",
        "final",
    ]
    every = columns_of(choice, every=True)
    assert len(every) == len(choice.stages) + 2
    assert (every[0].stage, every[-1].stage) == (MODEL, FINAL)


def test_each_cell_is_the_probability_after_its_stage(
    laboratory: Laboratory, dark: Palette
) -> None:
    choice = laboratory.choices[0]
    text = lines(through_strips(choice, 140, 40, dark))
    stages = [index for index, stage in enumerate(choice.stages) if stage.skipped is None]
    for candidate in choice.candidates:
        line = next(one for one in text if f" {candidate.rank} {candidate.label} " in one)
        names = [stage.name for stage in choice.stages]
        cut = names.index(candidate.cut_by) if candidate.cut_by else len(names)
        expected = [percent(candidate.p)]
        expected += [percent(candidate.after[index]) for index in stages if index < cut]
        at = 0
        for figure in expected:
            at = line.index(figure, at) + len(figure)
        if candidate.cut_by:
            assert "× cut" in line[at:]
            assert line.rstrip().endswith(stage_name(candidate.cut_by))


def test_rows_and_tail_sum_to_one_in_every_column(laboratory: Laboratory, dark: Palette) -> None:
    choice = laboratory.choices[0]
    tail = next(line for line in lines(through_strips(choice, 140, 20, dark)) if "more" in line)
    shown = 20 - 5 - 1 - 3
    after = next(index for index, stage in enumerate(choice.stages) if stage.name == "top_k")
    for mass in (
        sum(candidate.p for candidate in choice.candidates[:shown]),
        sum(candidate.after[after] for candidate in choice.candidates[:shown]),
    ):
        assert percent(1 - mass) in tail


def test_the_header_counts_survivors_and_mass_of_each_stage(
    laboratory: Laboratory, dark: Palette
) -> None:
    text = lines(through_strips(laboratory.choices[0], 140, 40, dark))
    assert text[2].split() == ["candidates", "left", "49,152", "40", "11", "5", "5", "5"]
    assert text[3].split()[:5] == ["mass", "left", "100.0", "%", "90.7"]


def test_the_marked_draw_is_pinned_where_it_lies_outside_the_window(
    laboratory: Laboratory, dark: Palette
) -> None:
    choice = laboratory.choices[0]
    text = lines(through_strips(choice, 120, 16, dark, sight=Sight(top=10)))
    marked = [line for line in text if "▸" in line[:3]]
    assert len(marked) == 1
    assert choice.chosen.label in marked[0]


def test_model_and_final_stay_while_the_stages_scroll(laboratory: Laboratory) -> None:
    choice = laboratory.choices[0]
    columns = columns_of(choice, every=True)
    seen: set[int] = set()
    for left in range(1, len(columns)):
        layout = fit(76, choice, columns, most=24, left=left)
        assert {0, len(columns) - 1} <= layout.shown
        assert layout.before + layout.after + len(layout.shown) == len(columns)
        seen |= layout.shown
    assert seen == set(range(len(columns)))


def test_a_stage_that_did_nothing_says_why(laboratory: Laboratory, dark: Palette) -> None:
    choice = laboratory.choices[0]
    columns = columns_of(choice, every=True)
    index = next(i for i, column in enumerate(columns) if column.name == "typical-p")
    text = "\n".join(
        lines(through_strips(choice, 140, 40, dark, sight=Sight(column=index, every=True)))
    )
    assert columns[index].record is not None
    assert str(columns[index].record.skipped) in text


def test_a_given_token_shows_the_model_alone(recording: Recording, dark: Palette) -> None:
    record = recording.moments[-1].record
    assert record is not None
    text = "\n".join(lines(through_strips(record, 100, 24, dark)))
    assert "no sampler looked at it" in text
    assert "final" not in text


def test_a_search_lists_what_it_found_with_ranks_and_no_tail(
    laboratory: Laboratory, dark: Palette
) -> None:
    found = laboratory.found[0]
    drawn = through_strips(laboratory.choices[0], 140, 20, dark, candidates=found.candidates)
    text = lines(drawn)
    assert not any("more" in line for line in text)
    for candidate in found.candidates:
        assert any(f"{candidate.rank} " in line and percent(candidate.p) in line for line in text)


# many draws


def test_every_count_and_expectation_is_the_records(laboratory: Laboratory, dark: Palette) -> None:
    record = laboratory.draws[1]
    text = lines(draws_strips(record, 140, 30, dark))[5:]
    for drawn in record.counts:
        line = next(one for one in text if one.startswith(f"  {drawn.label} "))
        assert f"{drawn.count:,}" in line
        assert percent(drawn.final_p) in line
        assert percent(drawn.count / record.draws) in line


@pytest.mark.parametrize(
    ("p_value", "words"),
    [
        (0.9, "agree with the display"),
        (0.05, "agree with the display"),
        (0.01, "once in 100 times"),
        (1e-9, "do not agree"),
        (None, "nothing to test"),
    ],
)
def test_the_verdict_follows_the_p_value(
    p_value: float | None, words: str, laboratory: Laboratory
) -> None:
    record = structs.replace(laboratory.draws[0], p_value=p_value)
    assert words in verdict(record)


def test_what_was_not_tested_says_whether_more_draws_would_help(laboratory: Laboratory) -> None:
    record = structs.replace(laboratory.draws[0], p_value=None)
    assert verdict(record).startswith("too few for these odds")
    certain = structs.replace(record, counts=(structs.replace(record.counts[0], final_p=1.0),))
    assert verdict(certain).startswith("one token has all the probability")


def test_a_tick_stands_where_the_bar_was_expected_to_end(dark: Palette) -> None:
    record = read_laboratory().draws[0]
    far = structs.replace(record, counts=(structs.replace(record.counts[0], count=0),))
    line = lines(draws_strips(far, 100, 12, dark))[5]
    width = 100 - line.index("%", line.index("47.5")) - 3
    at = line.index("│") - (100 - width)
    assert abs(at / width - far.counts[0].final_p / 0.5) < 2 / width
    assert "█" not in line


@pytest.mark.parametrize(("skipped", "acts"), [(None, "each"), ("by chance: no", "none")])
def test_draws_of_a_stage_that_acts_by_chance_say_that_its_chance_is_held(
    skipped: str | None, acts: str, laboratory: Laboratory, dark: Palette
) -> None:
    record, choice = laboratory.draws[0], laboratory.choices[0]
    xtc = next(stage for stage in choice.stages if stage.name == "xtc")
    chancy = structs.replace(xtc, skipped=skipped, figures={"chance": 0.3})
    said = "XTC's chance stays 0.30 in all of them"

    def head(width: int, *stages: StageRecord) -> str:
        held = structs.replace(choice, stages=stages)
        return "\n".join(lines(draws_strips(record, width, 20, dark, choice=held))[:5])

    assert f"{said}: it acts in {acts}" in head(78, *choice.stages, chancy)
    assert said in head(45, chancy)
    assert "chance" not in head(78, *choice.stages)


def test_no_draws_at_all_are_drawn_as_an_empty_histogram(dark: Palette) -> None:
    record = DrawsRecord(
        position=0,
        draws=1,
        seed=7,
        counts=(),
        rest_count=1,
        rest_p=1.0,
        chi_square=None,
        degrees=0,
        p_value=None,
        draw_ms=0.0,
    )
    check(draws_strips(record, 60, 10, dark), 60, 10)


# two chains


def test_the_two_sides_mirror_each_other(laboratory: Laboratory, dark: Palette) -> None:
    comparison = laboratory.comparisons[1]
    text = lines(comparison_strips(comparison, 140, 40, dark))
    for candidate in comparison.candidates[:10]:
        line = next(one for one in text if f" {candidate.label} " in one and "%" in one)
        left, right = line.split(candidate.label, 1)
        if candidate.left_cut_by is None:
            assert percent(candidate.left_p) in left
        if candidate.right_cut_by is None:
            assert percent(candidate.right_p) in right
        else:
            assert "only left" in right


def test_what_only_one_keeps_is_said_and_counted(laboratory: Laboratory, dark: Palette) -> None:
    comparison = laboratory.comparisons[1]
    text = "\n".join(lines(comparison_strips(comparison, 140, 40, dark)))
    assert "only right" in text
    assert f"only right {comparison.only_right}" in text
    assert f"{comparison.total_variation * 100:.1f} % of the probability lies elsewhere" in text
    assert f"u = {comparison.left.draw.u:.4f}" in text


# sweeps


def test_the_cursor_tells_its_values_figures(laboratory: Laboratory, dark: Palette) -> None:
    sweep = laboratory.sweeps[0]
    for cursor in (0, 10, len(sweep.points) - 1):
        text = lines(sweep_strips(sweep, 140, 36, dark, cursor=cursor))
        point = sweep.points[cursor]
        assert f"{point.value:.4g}" in text[0]
        assert f"{point.survivors} left to draw from" in text[0]
        for candidate, p in zip(sweep.candidates, point.final_p, strict=True):
            line = next(one for one in text if candidate.label in one)
            assert line.rstrip().endswith(percent(p) if p else "cut")


def test_the_current_value_is_marked_and_named(laboratory: Laboratory, dark: Palette) -> None:
    for sweep in laboratory.sweeps[:3]:
        text = lines(sweep_strips(sweep, 140, 36, dark))
        assert f"▲ {sweep.current:.4g}" in text[-2]


def test_lines_are_told_apart_without_colour(laboratory: Laboratory, dark: Palette) -> None:
    plot = "\n".join(line[:90] for line in lines(sweep_strips(laboratory.sweeps[0], 140, 36, dark)))
    assert all(str(number) in plot for number in (1, 2, 3))


# the watch list


def test_now_is_the_last_column_and_gaps_are_gaps(laboratory: Laboratory, dark: Palette) -> None:
    one = laboratory.watched[0]
    text = lines(watch_strips([one], laboratory.position, 140, 12, dark))
    last = one.points[-1]
    assert last.position == laboratory.position
    assert f"rank {last.rank:,}" in text[1]
    held = {point.position for point in one.points}
    gaps = sum(position not in held for position in range(laboratory.position + 1))
    plot = next(line for line in text if "·" in line)[2:48]
    assert plot.count("·") == gaps


def test_where_it_was_taken_is_marked(dark: Palette, laboratory: Laboratory) -> None:
    point = WatchPoint(position=3, rank=1, p=0.5, final_p=0.6, taken=True)
    one = structs.replace(laboratory.watched[0], points=(point,))
    text = lines(watch_strips([one], 5, 140, 12, dark))
    assert "▲ taken once" in text[1]
    assert sum(line.count("▲") for line in text[2:]) == 3
    assert "not known now" in text[1]


# names and scales


def test_the_chosen_name_is_always_among_those_shown(dark: Palette) -> None:
    names = [f"parameter {number}" for number in range(20)]
    for width in (30, 60, 140):
        for chosen in range(20):
            assert f"‹parameter {chosen}›" in tabs_strip(names, chosen, width, dark).text


def test_scales_are_fixed_and_hold_everything() -> None:
    assert scale_for([]) == 1.0
    for p in (0.0, 0.004, 0.01, 0.3, 0.5, 0.51, 1.0):
        assert scale_for([p]) in SCALES
        assert scale_for([p]) >= p
