from __future__ import annotations

from msgspec import structs

from tests.widgets.strips import lines
from tokenloop.records import Latency, LatencyHistory
from tokenloop_widgets.drawing.latency import (
    factor,
    headline,
    latency_strips,
    pass_strips,
    phases,
    redraw_words,
)
from tokenloop_widgets.palette import Palette

DECODE = Latency(
    prefill=0, decode=25.1, layers=17.9, head=6.1, copy=0.08, sample=0.6, total=25.7, positions=1
)
PREFILL = Latency(
    prefill=61, decode=0, layers=52, head=8.9, copy=0.1, sample=0.6, total=61.6, positions=5
)
HISTORY = LatencyHistory(
    steps_ms=(25.0, 26.0, 25.5, 50.0),
    prefill=PREFILL,
    decode=DECODE,
    last=DECODE,
    paint_ms=1.4,
)


def test_the_last_pass_is_one_bar_by_phase(dark: Palette) -> None:
    strip = latency_strips(HISTORY, 100, 9, dark)[0]
    known = [*(ms for _, ms in phases(DECODE)), 1.4]
    lengths = [len(segment.text) for segment in strip]
    assert sum(lengths) == 100
    assert abs(lengths[0] - known[0] / sum(known) * 100) <= 1
    assert strip.text.split()[0].strip("▏") == "layers" or "layers" in strip.text


def test_every_phase_has_its_figure(dark: Palette) -> None:
    legend = lines(latency_strips(HISTORY, 100, 9, dark))[1]
    assert legend.split("■ ")[1:] == [
        "layers 17.9 ms  ",
        "head 6.1  ",
        "copy 0.08  ",
        "sample 0.6  ",
        "paint 1.4" + " " * (100 - len(legend.rstrip())),
    ]


def test_decode_and_prefill_stand_side_by_side_with_their_factor(dark: Palette) -> None:
    text = lines(latency_strips(HISTORY, 100, 9, dark))
    decode = next(line for line in text if line.startswith("decode"))
    prefill = next(line for line in text if line.startswith("prefill"))
    assert "25.1 ms a token" in decode
    assert "12.2 ms a token" in prefill
    assert "2.1× faster" in prefill
    assert "61.0 ms for 5" in prefill
    blocks = [line.count("█") for line in (decode, prefill)]
    assert abs(blocks[1] / blocks[0] - 12.2 / 25.1) < 0.06


def test_a_slower_prefill_is_told_as_slower() -> None:
    assert factor(25.1, 12.2) == "2.1× faster"
    assert factor(10.0, 20.0) == "2.0× slower"


def test_what_is_not_known_is_a_dash(dark: Palette) -> None:
    first = LatencyHistory(prefill=PREFILL, last=PREFILL)
    text = "\n".join(lines(latency_strips(first, 100, 9, dark)))
    assert "paint —" in text
    assert "no step measured yet" in text
    assert "faster" not in text
    decode = next(line for line in text.splitlines() if line.startswith("decode"))
    assert decode.split()[1] == "—"


def test_only_as_many_steps_as_were_measured(dark: Palette) -> None:
    text = lines(latency_strips(HISTORY, 100, 5, dark))[-1]
    assert text.split()[0] == "▄▄▄█"
    assert "p50 25.5 ms" in text
    assert "p95 50.0 ms" in text
    assert "of 4 steps" in text
    one = structs.replace(HISTORY, steps_ms=(25.0,))
    assert "of 1 step " in lines(latency_strips(one, 100, 5, dark))[-1]


def test_an_earlier_pass_is_shown_alone(dark: Palette) -> None:
    text = lines(pass_strips(PREFILL, 100, 9, dark))
    assert "layers 52.0 ms" in text[1]
    assert "paint" not in text[1]
    assert [line.rstrip() for line in text if line.strip()][2:] == [
        "prefill 12.2 ms a token  61.0 ms for 5"
    ]
    text = lines(pass_strips(DECODE, 100, 9, dark))
    assert [line.rstrip() for line in text if line.strip()][2:] == ["decode  25.1 ms a token"]


def test_the_headline_says_what_the_pass_was() -> None:
    assert headline(DECODE, step=True) == "last step: 25.7 ms"
    assert headline(PREFILL, step=False) == "last pass: prefill of 5, 61.0 ms"
    assert headline(DECODE, step=False) == "last pass: decode of 1, 25.1 ms"
    assert headline(DECODE, step=True, then=True) == "its step: 25.7 ms"
    assert headline(PREFILL, step=False, then=True) == "its pass: prefill of 5, 61.0 ms"


def test_a_pass_over_one_given_token_is_no_step(dark: Palette) -> None:
    first = LatencyHistory(decode=DECODE, last=DECODE)
    text = "\n".join(lines(latency_strips(first, 100, 9, dark)))
    assert "25.1 ms a token" in text
    assert "no step measured yet" in text
    assert "p50" not in text


def test_a_redraw_says_what_it_took_and_that_no_pass_ran() -> None:
    assert redraw_words(LatencyHistory(redraw_ms=0.6, paint_ms=2.5)) == "redraw 3.1 ms, no pass"
    assert redraw_words(LatencyHistory(redraw_ms=None, paint_ms=2.5)) == ""
    assert redraw_words(LatencyHistory(redraw_ms=0.6)) == ""
