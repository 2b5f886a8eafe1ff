"""The one-line drawings: status, keys, summary."""

from __future__ import annotations

import pytest
from msgspec import structs

from tests.widgets.strips import lines
from tokenloop.records import Repetition
from tokenloop_widgets.drawing.figures import milliseconds
from tokenloop_widgets.drawing.keys import Key, fitting, keys_strip
from tokenloop_widgets.drawing.status import Status, status_strip
from tokenloop_widgets.drawing.summary import summary_strips
from tokenloop_widgets.palette import Palette
from tokenloop_widgets.recorded import Recording

KEYS = (
    Key("space", "step"),
    Key("←", "rewind"),
    Key("r", "roll again"),
    Key("?", "help", pinned=True),
)


def test_status_names_packed_weights(recording: Recording, dark: Palette) -> None:
    fast = structs.replace(recording.model, precision="fast")
    assert "cpu · float32 · packed weights" in status_strip(Status(fast), 120, dark).text
    assert "packed" not in status_strip(Status(recording.model), 120, dark).text


def test_status_says_what_runs_and_that_it_is_ready(recording: Recording, dark: Palette) -> None:
    status = Status(recording.model, 7, "llamacpp")
    text = status_strip(status, 120, dark).text
    for words in (
        "tokenloop",
        recording.model.name,
        "cpu · float32",
        "thread",
        "seed 7",
        "llama.cpp order",
        "● ready",
    ):
        assert words in text


def test_status_leaves_whole_items_out(recording: Recording, dark: Palette) -> None:
    status = Status(recording.model, 7, "llamacpp")
    whole = set(status_strip(status, 200, dark).text.split("  "))
    for width in range(20, 200):
        text = status_strip(status, width, dark).text
        assert text.rstrip().endswith("● ready")
        assert {item.strip() for item in text.split("  ") if item.strip()} <= {
            item.strip() for item in whole
        }


def test_status_shows_progress(recording: Recording, dark: Palette) -> None:
    status = Status(recording.model, 7, "llamacpp", "prefill", 512, 2048, "tokens")
    text = status_strip(status, 120, dark).text
    assert "◐ prefill ██▌        512/2,048 tokens" in text
    assert "ready" not in text
    assert "◐ load" in status_strip(Status(working="load"), 60, dark).text


def test_keys_are_left_out_whole_and_pinned_ones_last(dark: Palette) -> None:
    assert keys_strip(KEYS, 60, dark).text.split("  ")[:4] == [
        " space step",
        "← rewind",
        "r roll again",
        "? help",
    ]
    assert keys_strip(KEYS, 24, dark).text.strip() == "space step  ? help"
    assert keys_strip(KEYS, 8, dark).text.strip() == "? help"
    assert fitting(KEYS, 5) == []


def test_summary_has_a_line_a_panel_with_its_number(recording: Recording, dark: Palette) -> None:
    moment = recording.moments[6]
    choice = moment.choice
    assert choice is not None
    text = lines(summary_strips(choice, moment.cache, moment.latency, 120, 3, dark))
    assert [line[:12] for line in text] == ["3 sampler  u", "4 KV cache 1", "5 latency  d"]
    assert f"u = {choice.draw.u:.4f}" in text[0]
    assert choice.chosen.label in text[0]
    assert f"{moment.cache.positions} × 45.0 KiB = 810 KiB" in text[1]
    assert "decode" in text[2]
    assert "prefill" in text[2]


@pytest.mark.parametrize("width", range(24, 140))
def test_the_samplers_line_ends_in_what_is_left_to_draw_from(
    recording: Recording, dark: Palette, width: int
) -> None:
    moment = recording.moments[0]
    choice = moment.choice
    assert choice is not None
    line = lines(summary_strips(choice, moment.cache, moment.latency, width, 3, dark))[0]
    assert line.rstrip().endswith(f" {choice.stages[-1].survivors} left")
    whole = all(
        stage.name.replace("_", "-") in line for stage in choice.stages if not stage.skipped
    )
    assert width < 32 or ("…" in line) != whole
    assert width < 50 or "→" in line


def test_the_summary_of_an_earlier_moment_is_that_passes_own(
    recording: Recording, dark: Palette
) -> None:
    moment = recording.moments[8]
    record = moment.record
    assert record is not None
    then = record.latency_ms
    assert then.positions > 1
    strips = summary_strips(record, record.cache, moment.latency, 100, 3, dark, then=then)
    took = milliseconds(then.prefill / then.positions)
    whole = f"{milliseconds(then.prefill)} for {then.positions}"
    assert lines(strips)[2].split("latency  ")[1].split("  ")[:2] == [
        f"prefill {took} a token",
        whole,
    ]
    assert "decode" not in lines(strips)[2]


def test_status_says_that_the_text_repeats_itself_as_fully_as_fits(
    recording: Recording, dark: Palette
) -> None:
    loop = Repetition(
        period=9,
        times=3,
        start=4,
        text="␣violets␣are",
        entropy_before_bits=2.1,
        entropy_bits=0.3,
    )
    status = Status(recording.model, 7, "llamacpp", repetition=loop)
    for width in (140, 80):
        text = status_strip(status, width, dark).text
        assert "↻ repeats 9 tokens, 3 times · entropy 2.1 → 0.3 bits" in text
        assert text.rstrip().endswith("ready")
    assert "↻ 9 tokens, 3 times" in status_strip(status, 45, dark).text
    one = structs.replace(loop, period=1, entropy_bits=None)
    told = status_strip(Status(recording.model, repetition=one), 140, dark).text
    assert "↻ repeats 1 token, 3 times " in told
    assert "entropy" not in told
