"""Random records of the laboratory: consistent where it counts, wild in labels and numbers."""

from __future__ import annotations

from hypothesis import strategies as st
from msgspec import structs

from tests.widgets.strategies import choices, tokens
from tokenloop.records import (
    ChainRecord,
    Choice,
    ComparedCandidate,
    Comparison,
    DrawCount,
    DrawsRecord,
    SweepPoint,
    SweepRecord,
    Watched,
    WatchPoint,
)

parts = st.floats(0, 1)
stages = st.sampled_from(["top_k", "min_p", "dynamic_temperature", "no_repeat_ngram"])


@st.composite
def traced(draw: st.DrawFn) -> Choice:
    """A choice whose candidates know their probability after each stage."""
    choice = draw(choices())
    if choice.draw.how == "given":
        return choice

    def with_path(candidate):
        after = tuple(draw(parts) for _ in choice.stages)
        return structs.replace(candidate, after=after)

    return structs.replace(
        choice,
        candidates=tuple(with_path(candidate) for candidate in choice.candidates),
        chosen=with_path(choice.chosen),
    )


@st.composite
def draws(draw: st.DrawFn) -> DrawsRecord:
    made = draw(st.integers(1, 100_000))
    tested = draw(st.booleans())
    return DrawsRecord(
        position=5,
        draws=made,
        seed=draw(st.integers(0, 2**64 - 1)),
        counts=tuple(
            DrawCount(
                **structs.asdict(draw(tokens())),
                final_p=draw(parts),
                count=draw(st.integers(0, made)),
            )
            for _ in range(draw(st.integers(0, 20)))
        ),
        rest_count=draw(st.integers(0, made)),
        rest_p=draw(parts),
        chi_square=draw(st.floats(0, 1e6)) if tested else None,
        degrees=draw(st.integers(1, 20)) if tested else 0,
        p_value=draw(parts) if tested else None,
        draw_ms=draw(st.floats(0, 1e4)),
    )


@st.composite
def sweeps(draw: st.DrawFn) -> SweepRecord:
    candidates = tuple(draw(tokens()) for _ in range(draw(st.integers(0, 8))))
    low, step = draw(st.floats(-10, 10)), draw(st.floats(0, 100))
    return SweepRecord(
        position=5,
        setting="temperature",
        label=draw(st.sampled_from(["temperature", "\x1b[2J", "top-p"])),
        current=draw(st.floats(-20, 200)),
        candidates=candidates,
        points=tuple(
            SweepPoint(
                value=low + step * index,
                survivors=draw(st.integers(1, 300_000)),
                entropy_bits=draw(st.floats(0, 18)),
                final_p=tuple(draw(parts) for _ in candidates),
            )
            for index in range(draw(st.integers(0, 9)))
        ),
        sweep_ms=draw(st.floats(0, 1e4)),
    )


@st.composite
def comparisons(draw: st.DrawFn) -> Comparison:
    def chain(choice: Choice) -> ChainRecord:
        return ChainRecord(
            name=draw(st.sampled_from(["llama.cpp", "transformers", "\u202eevil", "日本" * 30])),
            order=choice.order,
            stages=choice.stages,
            survivors=draw(st.integers(1, 300_000)),
            entropy_bits=draw(st.floats(0, 18)),
            chosen=choice.chosen,
            draw=choice.draw,
        )

    left, right = chain(draw(choices())), chain(draw(choices()))
    return Comparison(
        position=5,
        left=left,
        right=right,
        candidates=tuple(
            ComparedCandidate(
                **structs.asdict(draw(tokens())),
                rank=draw(st.integers(1, 300_000)),
                p=draw(parts),
                left_p=draw(parts),
                right_p=draw(parts),
                left_cut_by=draw(st.none() | stages),
                right_cut_by=draw(st.none() | stages),
            )
            for _ in range(draw(st.integers(0, 12)))
        ),
        only_left=draw(st.integers(0, 300_000)),
        only_right=draw(st.integers(0, 300_000)),
        both=draw(st.integers(0, 300_000)),
        total_variation=draw(parts),
    )


@st.composite
def watch_lists(draw: st.DrawFn, now: int) -> tuple[Watched, ...]:
    def points() -> tuple[WatchPoint, ...]:
        positions = sorted(draw(st.sets(st.integers(0, now), max_size=12)))
        return tuple(
            WatchPoint(
                position=position,
                rank=draw(st.integers(1, 300_000)),
                p=draw(parts),
                final_p=draw(st.none() | parts),
                taken=draw(st.booleans()),
            )
            for position in positions
        )

    return tuple(
        Watched(**structs.asdict(draw(tokens())), points=points())
        for _ in range(draw(st.integers(0, 5)))
    )
