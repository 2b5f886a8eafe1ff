from __future__ import annotations

import math
import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from msgspec import structs

from tests.widgets.strategies import choices
from tests.widgets.strips import lines
from tokenloop.records import Candidate, Choice, Draw, StageRecord
from tokenloop_widgets.drawing.draw import draw_words
from tokenloop_widgets.drawing.figures import bits, count, percent, stage_name
from tokenloop_widgets.drawing.funnel import Columns
from tokenloop_widgets.drawing.ribbon import (
    REST,
    final_cells,
    model_ribbon,
    pointer_cell,
    ribbon_cells,
)
from tokenloop_widgets.drawing.sampler import sampler_strips
from tokenloop_widgets.drawing.stage_words import cut_figure, reason, stage_flow, stage_setting
from tokenloop_widgets.palette import Palette
from tokenloop_widgets.recorded import Recording

widths = st.integers(1, 160)


def now(recording: Recording, moment: int = 0) -> Choice:
    choice = recording.moments[moment].choice
    assert choice is not None
    return choice


def words(choice: Choice, palette: Palette) -> list[str]:
    return [text for text, _ in draw_words(choice, palette) if text]


def test_the_funnel_tells_every_stage_in_its_order(recording: Recording, dark: Palette) -> None:
    choice = now(recording)
    text = lines(sampler_strips(choice, 100, 30, dark, full=True))
    assert text[1].split()[:2] == ["model", count(choice.vocab_size)]
    assert bits(choice.entropy_bits) in text[1]
    for stage, line in zip(choice.stages, text[2:], strict=False):
        assert line.startswith(stage_name(stage.name))
        if stage.skipped is not None:
            assert stage.skipped.removeprefix("off: ") in line
            continue
        assert stage_setting(stage) in line
        assert stage_flow(stage) in line
        assert f"{stage.entropy_before_bits:.2f} → {bits(stage.entropy_bits)}" in line
        if stage.survivors != stage.survivors_before:
            assert f"−{percent(stage.mass_cut)}" in line


def test_the_bars_of_the_funnel_show_the_mass_left(recording: Recording, dark: Palette) -> None:
    choice = now(recording)
    left = 1.0
    width = Columns.fit(100, choice).bar
    acted = [stage for stage in choice.stages if stage.skipped is None]
    text = [line for line in lines(sampler_strips(choice, 100, 30, dark)) if "━" in line]
    assert text[0].count("━") == width
    for stage, line in zip(acted, text[1:], strict=True):
        left *= 1 - stage.mass_cut
        drawn = line.count("━") + line.count("╸") / 2
        assert drawn == pytest.approx(left * width, abs=0.25)


def test_a_low_panel_keeps_the_draw_and_the_stages_that_acted(
    recording: Recording, dark: Palette
) -> None:
    text = lines(sampler_strips(now(recording), 60, 8, dark))
    names = [line.split()[0] for line in text[:5]]
    assert names == ["model", "top-k", "top-p", "min-p", "temperature"]
    assert text[5].startswith("u = ")
    assert "▲" in text[7]
    assert lines(sampler_strips(now(recording), 60, 1, dark))[0].startswith("u = ")


def test_what_a_stage_does_without_cutting_is_said(recording: Recording) -> None:
    by_name = {stage.name: stage for stage in now(recording).stages}
    temperature = by_name["temperature"]
    assert stage_flow(temperature) == "sharper"
    hotter = structs.replace(temperature, entropy_bits=temperature.entropy_before_bits + 1)
    assert stage_flow(hotter) == "flatter"
    assert cut_figure(temperature) == ""
    assert cut_figure(structs.replace(by_name["top_k"], mass_cut=0.0001)) == "< 0.1 %"


@pytest.mark.parametrize(
    ("name", "settings", "text"),
    [
        ("top_k", {"k": 40}, "40"),
        ("top_p", {"p": 0.95}, "0.95"),
        ("temperature", {"t": 0.8}, "0.80"),
        ("logit_bias", {"tokens": 1}, "1 id"),
        ("bad_words", {"sequences": 2}, "2 texts"),
        ("grammar", {"kind": "JSON Schema"}, "JSON"),
        ("grammar", {"kind": "GBNF"}, "GBNF"),
        ("xtc", {"probability": 0.5, "threshold": 0.1}, "0.50 ≥0.10"),
        ("dry", {"multiplier": 0.8, "base": 1.75, "last_n": 20}, "×0.80"),
        ("mirostat", {"tau": 5.0, "eta": 0.1}, "τ 5.00"),
        ("penalties", {"repeat": 1.0, "frequency": 0.5, "presence": 0.0}, "f 0.50"),
        ("penalties", {"repeat": 1.0, "frequency": 0.0, "presence": -0.5}, "p -0.50"),
        ("logit_bias", {"tokens": 2}, "2 ids"),
        ("penalties", {"repeat": 1.1, "frequency": 0.0, "presence": 0.0, "last_n": 64}, "×1.10"),
    ],
)
def test_a_setting_in_few_cells(
    name: str, settings: dict[str, float | int | str], text: str
) -> None:
    stage = StageRecord(
        name=name,
        settings=settings,
        survivors_before=9,
        survivors=9,
        mass_cut=0,
        entropy_before_bits=1,
        entropy_bits=1,
    )
    assert stage_setting(stage) == text


def wide_open(choice: Choice) -> Choice:
    """A flat distribution over many candidates, each stage cutting next to nothing, or all."""
    size = 262_144
    left, entropy = size, 17.98
    stages = []
    for stage in choice.stages:
        cuts = stage.name in ("top_k", "top_p", "min_p")
        stages.append(
            structs.replace(
                stage,
                settings={"k": 262_000} if stage.name == "top_k" else stage.settings,
                survivors_before=left,
                survivors=left - cuts,
                entropy_before_bits=entropy,
                entropy_bits=entropy - 0.01,
                mass_cut=1.0 if cuts else 0.0,
                skipped=None,
            )
        )
        left -= cuts
    return structs.replace(
        choice,
        vocab_size=size,
        entropy_bits=entropy,
        final_entropy_bits=entropy,
        stages=tuple(stages),
    )


def test_the_widest_figures_have_their_columns(recording: Recording, dark: Palette) -> None:
    text = "\n".join(lines(sampler_strips(wide_open(now(recording)), 100, 30, dark)))
    for figure in ("262,144 → 262,143", "262,000", "17.98 → 17.97 bits", "−100.0 %"):
        assert figure in text


@pytest.mark.parametrize("width", range(1, 120))
def test_no_figure_is_ever_cut(recording: Recording, dark: Palette, width: int) -> None:
    for choice in (now(recording), now(recording, 2), wide_open(now(recording))):
        for line in lines(sampler_strips(choice, width, 30, dark)):
            assert not re.search(r"[\d.,]…", line)


LEFT = "left at new token 1 (␣Sydney): the grammar no longer constrains"


@pytest.mark.parametrize(
    ("why", "room", "shown"),
    [
        (LEFT, len(LEFT), LEFT),
        (LEFT, len(LEFT) - 1, "left at new token 1 (␣Sydney)"),
        (LEFT, 25, "left at new token 1"),
        (LEFT, 12, "left at …"),
        ("off: repeat 1, frequency 0", 20, "repeat 1"),
    ],
)
def test_why_a_stage_did_nothing_ends_with_a_clause(
    why: str, room: int, shown: str, recording: Recording
) -> None:
    stage = structs.replace(now(recording).stages[0], skipped=why)
    assert reason(stage, room) == shown


def test_why_a_stage_did_nothing_is_told_in_whole_words(
    recording: Recording, dark: Palette
) -> None:
    choice = now(recording)
    first = structs.replace(choice.stages[0], skipped="k = 262,144 is the whole vocabulary")
    choice = structs.replace(choice, stages=(first, *choice.stages[1:]))
    text = lines(sampler_strips(choice, 44, 30, dark))
    assert any(line.rstrip().endswith("k = 262,144 is the …") for line in text)


def test_the_draw_in_words(recording: Recording, dark: Palette) -> None:
    choice = now(recording)
    draw = choice.draw
    assert words(choice, dark) == [
        f"u = {draw.u:.4f}",
        f"falls in [{draw.low:.3f}, {draw.high:.3f})",
        f"→ {choice.chosen.label}",
    ]
    again = structs.replace(choice, draw=structs.replace(draw, attempt=2))
    assert words(again, dark)[-1] == "attempt 2"


def test_the_draw_in_words_where_nothing_was_drawn(recording: Recording, dark: Palette) -> None:
    choice = now(recording)
    label = choice.chosen.label

    def drawn(how: str, chosen: Candidate = choice.chosen, **changes: object) -> list[str]:
        draw: Draw = structs.replace(choice.draw, how=how, u=None, **changes)
        return words(structs.replace(choice, draw=draw, chosen=chosen), dark)

    assert drawn("greedy") == ["greedy", f"→ {label}", "T = 0: the best, nothing is drawn"]
    assert drawn("greedy", attempt=2)[2:] == ["T = 0: the best", "attempt 2"]
    assert drawn("given") == ["given by you: nothing was drawn"]
    assert drawn("forced", low=0.25, high=0.5)[2] == "its interval [0.250, 0.500)"
    cut = structs.replace(choice.chosen, cut_by="top_p")
    assert drawn("forced", cut, low=None, high=None)[2] == "it was cut by top-p"


@given(choices(), widths)
def test_the_pointer_stands_under_the_interval_that_holds_u(choice: Choice, width: int) -> None:
    at = pointer_cell(choice, width)
    assume(at is not None)
    assert at is not None
    cells = final_cells(choice, width)
    owner = cells[at]
    held = [part for part in choice.ribbon if part.id == choice.chosen.id]
    if not held:
        assert owner == REST
        return
    assert choice.ribbon[owner].id == choice.chosen.id
    if choice.draw.u is not None:
        assert at <= choice.draw.u * width <= at + 1


@given(choices(), widths)
def test_the_ribbon_is_cut_in_proportion(choice: Choice, width: int) -> None:
    for ribbon in (choice.ribbon, model_ribbon(choice)):
        cells = ribbon_cells(ribbon, width)
        assert [index for index in cells if index != REST] == sorted(
            index for index in cells if index != REST
        )
        for index, part in enumerate(ribbon):
            assert abs(cells.count(index) - (part.high - part.low) * width) <= 1


def test_labels_stand_inside_their_intervals(recording: Recording, dark: Palette) -> None:
    text = lines(sampler_strips(now(recording), 80, 30, dark))
    final = next(line for line in text if line.startswith("final"))
    model = next(line for line in text if line.startswith("model ") and "▏" in line)
    assert "␣Sydney" in final
    assert "␣Canberra" in final
    assert "␣Sydney" in model


def test_the_word_of_the_pointer_stays_in_the_panel(recording: Recording, dark: Palette) -> None:
    choice = now(recording)
    late = structs.replace(choice, draw=structs.replace(choice.draw, u=0.999))
    for width in (20, 40, 90):
        pointed = lines(sampler_strips(late, width, 5, dark))
        assert any(line.rstrip().endswith("u = 0.9990 ▲") for line in pointed)


def test_stages_that_are_off_stand_in_lines_by_name(recording: Recording, dark: Palette) -> None:
    choice = now(recording)
    text = lines(sampler_strips(choice, 66, 19, dark))
    off = [stage for stage in choice.stages if (stage.skipped or "").startswith("off: ")]
    assert f"off: {', '.join(stage_name(stage.name) for stage in off)}" in "".join(text)
    switched = structs.replace(choice.stages[-1], skipped="off: switched off")
    choice = structs.replace(choice, stages=(*choice.stages[:-1], switched))
    text = lines(sampler_strips(choice, 66, 19, dark))
    assert any(line.startswith(f"switched off: {stage_name(switched.name)} ") for line in text)


def test_names_that_no_line_holds_are_counted(recording: Recording, dark: Palette) -> None:
    choice = now(recording)
    off = structs.replace(choice.stages[0], name="bad_words", skipped="off: no bad words")
    choice = structs.replace(choice, stages=(*choice.stages, *[off] * 14))
    text = lines(sampler_strips(choice, 40, 30, dark))
    start = next(row for row, line in enumerate(text) if line.startswith("off: "))
    told = " ".join(text[start : start + 2])
    named = told.count("bad words")
    total = sum((stage.skipped or "").startswith("off: ") for stage in choice.stages)
    assert int(told.split("+")[1]) == total - named - told.count("logit") - told.count("penalties")


def test_a_stage_on_without_effect_says_why(recording: Recording, dark: Palette) -> None:
    choice = now(recording)
    idle = structs.replace(choice.stages[-1], skipped="one candidate is left")
    choice = structs.replace(choice, stages=(*choice.stages[:-1], idle))
    text = lines(sampler_strips(choice, 66, 19, dark))
    assert any("one candidate is left" in line for line in text)


def test_in_full_the_stages_that_are_off_say_why_even_where_not_each_has_a_line(
    recording: Recording, dark: Palette
) -> None:
    choice = now(recording)
    off = [
        structs.replace(choice.stages[0], name=name, skipped=f"off: reason {number}")
        for number, name in enumerate(
            ("dry", "xtc", "top_a", "typical_p", "eta_cutoff", "min_length")
        )
    ]
    choice = structs.replace(choice, stages=(*choice.stages, *off))
    text = "\n".join(lines(sampler_strips(choice, 76, 15, dark, full=True)))
    for number in range(6):
        assert f"reason {number}" in text


def test_what_a_stage_found_is_told_where_there_is_room(
    recording: Recording, dark: Palette
) -> None:
    choice = now(recording)
    first = structs.replace(
        choice.stages[-1], skipped=None, note="repeats ␣a: 5 tokens", definition="exactly k"
    )
    choice = structs.replace(choice, stages=(*choice.stages[:-1], first))
    for width in (66, 130):
        text = lines(sampler_strips(choice, width, 30, dark))
        assert any("repeats ␣a: 5 tokens · exactly k" in line for line in text)
    assert not any("repeats" in line for line in lines(sampler_strips(choice, 66, 12, dark)))


def test_perplexity_and_surprisal_are_told_before_and_after(
    recording: Recording, dark: Palette
) -> None:
    choice = now(recording)
    assert choice.final_entropy_bits is not None
    assert choice.chosen.final_p is not None
    text = "\n".join(lines(sampler_strips(choice, 66, 19, dark)))
    before, after = 2**choice.entropy_bits, 2**choice.final_entropy_bits
    assert f"perplexity {before:.1f} → {after:.2f}" in text
    own, final = -math.log2(choice.chosen.p), -math.log2(choice.chosen.final_p)
    assert f"surprisal {own:.2f} → {final:.2f} bits" in text


def test_what_was_cut_and_forced_has_the_models_surprisal_alone(
    recording: Recording, dark: Palette
) -> None:
    choice = now(recording)
    cut = structs.replace(choice.chosen, cut_by="top_p", final_p=0.0, p=0.25)
    text = "\n".join(lines(sampler_strips(structs.replace(choice, chosen=cut), 66, 19, dark)))
    assert "surprisal 2.00 bits" in text
