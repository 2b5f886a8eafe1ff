"""The stages' lines: what acted with what it found, and why what was asked for did not."""

from __future__ import annotations

from tokenloop.cli.stage_lines import headed, stage_lines
from tokenloop.records import StageRecord
from tokenloop.sampling import SamplerSettings


def stage(name: str, **changes: object) -> StageRecord:
    facts: dict[str, object] = {
        "name": name,
        "settings": {"p": 0.5},
        "survivors_before": 1000,
        "survivors": 10,
        "mass_cut": 0.25,
        "entropy_before_bits": 3.0,
        "entropy_bits": 2.0,
    }
    return StageRecord(**(facts | changes))


def told(*stages: StageRecord, **settings: object) -> list[str]:
    return [line.plain for line in stage_lines(stages, SamplerSettings(**settings))]


def test_a_cut_says_how_many_and_how_much() -> None:
    [line] = told(stage("top_p", note="a note", definition="a definition"))
    assert line.split() == [
        *("top_p", "0.5", "1,000", "→", "10,", "−25.00", "%"),
        *("a", "note", "·", "a", "definition"),
    ]


def test_what_only_reshapes_says_what_the_entropy_became() -> None:
    [line] = told(stage("temperature", settings={"t": 0.8}, survivors=1000))
    assert line.split() == ["temperature", "0.8", "3.00", "→", "2.00", "bits"]


def test_several_settings_are_named() -> None:
    [line] = told(stage("xtc", settings={"probability": 0.5, "threshold": 0.1}))
    assert line.startswith("xtc probability 0.5, threshold 0.1 ")


def test_what_nobody_asked_for_is_left_out() -> None:
    assert told(stage("top_p"), stage("xtc", skipped="off: probability 0")) == told(stage("top_p"))
    assert told(stage("xtc", skipped="off: probability 0")) == ["no stage changes anything"]


def test_what_was_asked_for_and_did_nothing_says_why() -> None:
    off = stage("xtc", skipped="off: threshold above 0.5")
    [_, line] = told(stage("top_p"), off, xtc_probability=0.5, xtc_threshold=0.6)
    assert line == "no effect: xtc: off: threshold above 0.5"
    [_, line] = told(stage("top_p"), stage("min_p", skipped="off: switched off"), off=("min_p",))
    assert line == "no effect: min_p: off: switched off"


def test_what_was_on_and_did_nothing_says_why() -> None:
    [_, line] = told(stage("top_p"), stage("min_p", skipped="all reach that part of the best"))
    assert line == "no effect: min_p: all reach that part of the best"


def test_no_note_drives_the_terminal_and_labels_stay() -> None:
    [line] = told(stage("dry", note="repeats ␣a\x1b[2J"))
    assert "␛[2J" in line
    assert "␣a" in line


def test_only_the_first_line_has_the_heading() -> None:
    lines = headed("sampler", stage_lines([stage("top_p"), stage("min_p")], SamplerSettings()))
    assert [line.plain[:9] for line in lines] == ["sampler  ", "         "]
