"""Every drawing, at any size, of any data: exact lines, nothing but text, no exception."""

from __future__ import annotations

import math

from hypothesis import given
from hypothesis import strategies as st

from tests.widgets.strategies import caches, choices, histories, labels, passes, prefixes
from tests.widgets.strips import check
from tokenloop.records import CacheRecord, Choice, Latency, LatencyHistory, ModelInfo, PrefixToken
from tokenloop_widgets.drawing.cache import cache_strips
from tokenloop_widgets.drawing.candidates import Marks as TableMarks
from tokenloop_widgets.drawing.candidates import candidates_strips
from tokenloop_widgets.drawing.keys import Key, keys_strip
from tokenloop_widgets.drawing.latency import latency_strips, pass_strips
from tokenloop_widgets.drawing.sampler import sampler_strips
from tokenloop_widgets.drawing.status import Status, status_strip
from tokenloop_widgets.drawing.summary import summary_strips
from tokenloop_widgets.drawing.text import Marks, text_strips
from tokenloop_widgets.drawing.text_layout import TextLayout
from tokenloop_widgets.palette import DARK, Palette

PALETTE = Palette.from_theme(DARK)

widths = st.one_of(st.integers(0, 12), st.integers(0, 200))
heights = st.integers(0, 50)
banned = st.just(-math.inf)


@given(choices() | st.none(), widths, heights, st.data())
def test_candidates(choice: Choice | None, width: int, height: int, data: st.DataObject) -> None:
    last = len(choice.candidates) - 1 if choice else 0
    strips = candidates_strips(
        choice,
        width,
        height,
        PALETTE,
        top=data.draw(st.integers(0, last)),
        marks=TableMarks(
            highlighted=data.draw(st.none() | st.integers(0, last)),
            landed=data.draw(st.booleans()),
            watched=data.draw(st.sets(st.integers(0, 29))),
            biases=data.draw(st.dictionaries(st.integers(0, 29), st.floats(-1000, 1000) | banned)),
        ),
        placeholder=data.draw(labels),
    )
    check(strips, width, height)


@given(choices() | st.none(), widths, heights, labels)
def test_sampler(choice: Choice | None, width: int, height: int, placeholder: str) -> None:
    strips = sampler_strips(choice, width, height, PALETTE, placeholder=placeholder)
    check(strips, width, height)


@given(caches() | st.none(), widths, heights, st.booleans(), labels)
def test_cache(
    cache: CacheRecord | None, width: int, height: int, next_step: bool, placeholder: str
) -> None:
    strips = cache_strips(
        cache, width, height, PALETTE, next_step=next_step, placeholder=placeholder
    )
    check(strips, width, height)


any_pass = passes(prefill=False) | passes(prefill=True)


@given(histories | st.none(), widths, heights, labels)
def test_latency(history: LatencyHistory | None, width: int, height: int, placeholder: str) -> None:
    strips = latency_strips(history, width, height, PALETTE, placeholder=placeholder)
    check(strips, width, height)


@given(any_pass, widths, heights)
def test_an_earlier_pass(latency: Latency, width: int, height: int) -> None:
    check(pass_strips(latency, width, height, PALETTE), width, height)


@given(
    choices() | st.none(),
    caches() | st.none(),
    histories | st.none(),
    st.none() | any_pass,
    widths,
    st.integers(0, 6),
)
def test_summary(
    choice: Choice | None,
    cache: CacheRecord | None,
    history: LatencyHistory | None,
    then: Latency | None,
    width: int,
    height: int,
) -> None:
    strips = summary_strips(choice, cache, history, width, height, PALETTE, then=then)
    check(strips, width, height)


@given(prefixes(), widths, heights, st.booleans(), st.data())
def test_text(
    prefix: tuple[PrefixToken, ...],
    width: int,
    height: int,
    probabilities: bool,
    data: st.DataObject,
) -> None:
    layout = TextLayout(width, probabilities=probabilities)
    layout.update(prefix)
    positions = st.none() | st.integers(0, max(0, len(prefix) - 1))
    marks = Marks(
        cursor=data.draw(positions),
        landed=data.draw(positions),
        ghost=data.draw(st.none() | labels),
        hint=data.draw(labels),
    )
    top = data.draw(st.integers(0, len(layout.rows)))
    placeholder = data.draw(labels)
    strips = text_strips(
        layout, prefix, height, PALETTE, top=top, marks=marks, placeholder=placeholder
    )
    check(strips, width, height)


@given(widths, labels, st.none() | labels, st.integers(0, 9999), st.integers(0, 9999))
def test_status(width: int, name: str, working: str | None, done: int, total: int) -> None:
    model = ModelInfo(
        name=name,
        family="llama",
        device="cpu",
        dtype="float32",
        threads=2,
        quantisation="Q4_1",
        parameters=1,
        layers=1,
        kv_heads=1,
        head_dim=1,
        vocab_size=1,
        context_length=1,
        fingerprint="",
        eos_ids=(),
    )
    status = Status(model, 7, "llamacpp", working, done, total, "tokens")
    check([status_strip(status, width, PALETTE)], width, 1)
    check([status_strip(Status(), width, PALETTE)], width, 1)


@given(widths, st.lists(st.builds(Key, labels, labels, labels, st.booleans()), max_size=12))
def test_keys(width: int, keys: list[Key]) -> None:
    check([keys_strip(keys, width, PALETTE)], width, 1)
