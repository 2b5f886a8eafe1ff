from __future__ import annotations

import math
import re
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from tests.widgets.strategies import choices
from tests.widgets.strips import lines
from tokenloop.records import Choice, Tail
from tokenloop_widgets.drawing.candidates import Marks, candidates_strips
from tokenloop_widgets.drawing.candidates_layout import (
    Columns,
    below,
    fates,
    scale_of,
    table_rows,
)
from tokenloop_widgets.drawing.figures import percent
from tokenloop_widgets.palette import Palette
from tokenloop_widgets.recorded import Recording


@pytest.fixture
def choice(recording: Recording) -> Choice:
    made = recording.moments[0].choice
    assert made is not None
    return made


def test_every_shown_number_is_the_records(choice: Choice, dark: Palette) -> None:
    text = lines(candidates_strips(choice, 120, 26, dark))
    for candidate, line in zip(choice.candidates, text[1:], strict=False):
        words = line.split()
        assert str(candidate.rank) in words
        assert str(candidate.id) in words
        assert f"{candidate.logit:.2f}" in words
        assert percent(candidate.p) in line
        fate = percent(candidate.final_p) if candidate.cut_by is None else candidate.cut_by
        assert line.rstrip().endswith(fate.replace("_", "-"))


def test_the_chosen_candidate_is_marked(choice: Choice, dark: Palette) -> None:
    marked = [line for line in lines(candidates_strips(choice, 80, 20, dark)) if "▸" in line]
    assert len(marked) == 1
    assert choice.chosen.label in marked[0]


def test_the_highlighted_row_is_told_by_a_glyph(choice: Choice, dark: Palette) -> None:
    text = lines(candidates_strips(choice, 80, 20, dark, marks=Marks(highlighted=3)))
    assert [line[0] for line in text].count("▌") == 1
    assert text[4].startswith("▌")


def test_what_was_cut_names_its_stage_and_has_no_final_bar(choice: Choice, dark: Palette) -> None:
    text = lines(candidates_strips(choice, 120, 26, dark))
    for candidate, line in zip(choice.candidates, text[1:], strict=False):
        if candidate.cut_by is not None:
            assert "▄" not in line
            assert "▖" not in line


@pytest.mark.parametrize("width", range(1, 120))
def test_a_stage_that_cut_is_named_in_full_or_not_at_all(
    recording: Recording, dark: Palette, width: int
) -> None:
    choice = recording.moments[2].choice  # greedy
    assert choice is not None
    assert choice.candidates[1].cut_by == "temperature"
    text = lines(candidates_strips(choice, width, 26, dark))
    second = text[2].rstrip()
    if width > 40:
        assert second.endswith(" temperature")
    for line in text:
        assert not re.search(r"[\d.,]…", line)
        assert not re.search(r"(temp|top|min|bias)\S*…", line)


def test_a_name_in_full_leaves_the_bars_in_a_narrow_panel() -> None:
    plain = Columns.fit(46, most=40, final=True)
    named = Columns.fit(46, most=40, final=True, fate=len("temperature"))
    assert (plain.final, named.final) == (7, 11)
    assert plain.bar > named.bar >= 8
    assert named.label >= 9


def test_large_negative_logits_and_ids_have_their_columns(choice: Choice, dark: Palette) -> None:
    candidates = tuple(
        structs.replace(c, logit=c.logit - 1200, id=c.id + 2_000_000) for c in choice.candidates
    )
    moved = structs.replace(
        choice,
        vocab_size=3_000_000,
        candidates=candidates,
        chosen=next(c for c in candidates if c.id == choice.chosen.id + 2_000_000),
    )
    text = lines(candidates_strips(moved, 120, 26, dark))
    for candidate, line in zip(candidates, text[1:], strict=False):
        assert f" {candidate.id} " in line
        assert f" {candidate.logit:.2f} " in line


@given(choices(), st.integers(3, 40), st.integers(0, 30))
def test_rows_and_tail_below_the_first_row_sum_to_one(
    choice: Choice, height: int, top: int
) -> None:
    top = min(top, len(choice.candidates) - 1)
    rows = table_rows(choice, height, top)
    shown = [choice.candidates[row.index] for row in rows if row.kind == "candidate"]
    if any(row.kind == "pinned" for row in rows):
        shown.append(choice.chosen)
    above = [one for one in choice.candidates[:top] if one.id not in {c.id for c in shown}]
    tail = below(choice, rows)
    everyone = [*above, *shown]
    assert sum(one.p for one in everyone) + tail.p == pytest.approx(1)
    assert len(everyone) + tail.count == choice.vocab_size
    if tail.final_p is not None:
        assert sum(one.final_p or 0 for one in everyone) + tail.final_p == pytest.approx(1)
        cut = Counter(tail.cut)
        cut.update(one.cut_by for one in everyone if one.cut_by)
        cut_in_all = sum(choice.tail.cut.values())
        cut_in_all += sum(one.cut_by is not None for one in choice.candidates)
        assert sum(cut.values()) == cut_in_all


@given(choices(), st.integers(1, 40), st.integers(0, 30))
def test_the_chosen_one_is_in_view_at_any_height_and_scroll(
    choice: Choice, height: int, top: int
) -> None:
    rows = table_rows(choice, height, min(top, len(choice.candidates) - 1))
    ids = [choice.candidates[row.index].id for row in rows if row.kind == "candidate"]
    ids += [choice.chosen.id for row in rows if row.kind == "pinned"]
    assert choice.chosen.id in ids


@given(choices())
def test_the_scale_is_one_of_the_fixed_and_holds_every_bar(choice: Choice) -> None:
    scale = scale_of(choice)
    assert scale in (1.0, 0.2, 0.05)
    assert all(c.p <= scale and (c.final_p or 0) <= scale for c in choice.candidates)


def test_the_header_states_the_scale(choice: Choice, dark: Palette) -> None:
    assert "100 %" in lines(candidates_strips(choice, 100, 20, dark))[0]
    flat = structs.replace(
        choice,
        candidates=tuple(
            structs.replace(c, p=c.p / 20, final_p=(c.final_p or 0) / 20) for c in choice.candidates
        ),
        chosen=structs.replace(choice.chosen, p=choice.chosen.p / 20, final_p=0.01),
    )
    assert " 5 %" in lines(candidates_strips(flat, 100, 20, dark))[0]


def test_a_given_token_shows_the_model_alone(recording: Recording, dark: Palette) -> None:
    record = recording.moments[-1].record
    assert record is not None
    assert record.draw.how == "given"
    text = lines(candidates_strips(record, 90, 16, dark))
    assert "final" not in text[0]
    assert "given by you: nothing was drawn" in text[-1]
    assert not any("▄" in line for line in text)


def test_the_tails_fate_is_told_as_fully_as_fits() -> None:
    tail = Tail(count=49_141, p=0.1, final_p=0.01, cut={"top_p": 26, "top_k": 49_112})
    assert fates(tail) == [
        "49,112 cut by top-k, 26 by top-p, 3 can be drawn",
        "49,112 cut by top-k, 26 by top-p",
        "top-k cut 49,112, top-p 26",
        "49,112 cut by top-k",
    ]


def test_columns_appear_in_the_order_of_what_they_tell() -> None:
    seen: list[set[str]] = []
    for width in range(141):
        columns = Columns.fit(width, most=40, final=True)
        names = {name for name in ("p", "final", "bar", "logit", "id") if getattr(columns, name)}
        if not seen or names != seen[-1]:
            seen.append(names)
    assert seen == [
        set(),
        {"p"},
        {"p", "final"},
        {"p", "final", "bar"},
        {"p", "final", "bar", "logit"},
        {"p", "final", "bar", "logit", "id"},
    ]


def test_what_a_person_did_to_a_candidate_is_told_in_its_row(choice: Choice, dark: Palette) -> None:
    sydney, canberra, the = (candidate.id for candidate in choice.candidates[:3])
    banned = structs.replace(choice.candidates[2], cut_by="logit_bias", final_p=0.0)
    choice = structs.replace(choice, candidates=(*choice.candidates[:2], banned))
    marks = Marks(watched={sydney}, biases={canberra: 2.0, the: -math.inf})
    for width in (40, 66, 140):
        text = lines(candidates_strips(choice, width, 20, dark, marks=marks))
        assert "1 ◉␣Sydney" in text[1]
        assert "◉" not in text[2]
        assert "␣Canberra" in text[2]
        assert "+2" in text[2]
        assert "banned" in text[3]


def test_a_bias_never_takes_the_place_of_a_label(choice: Choice, dark: Palette) -> None:
    marks = Marks(biases={choice.candidates[0].id: -999.125})
    for width in range(12, 140):
        text = lines(candidates_strips(choice, width, 20, dark, marks=marks))
        assert "␣S" in text[1]
        assert re.search(r"-999\.125|…|Sydney", text[1])
