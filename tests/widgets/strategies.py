"""Random records: consistent where the records promise it, wild in labels and numbers."""

from __future__ import annotations

from hypothesis import strategies as st
from msgspec import structs

from tokenloop.records import (
    CacheRecord,
    Candidate,
    Choice,
    Draw,
    Interval,
    Latency,
    LatencyHistory,
    PrefixToken,
    StageRecord,
    Tail,
    Token,
)

# Labels come safe from the core; the drawings hold even where one does not.
labels = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12),
    st.sampled_from(
        [
            *("␣Sydney", "⏎", "⇥", "日本語", "🇦", "<|im_end|>", "[/nope]", "[@click=quit]"),
            *("❤\ufe0f", "\ufe0f", "\u0301", "👩\u200d👩\u200d👧", "\u200d"),
            *("\x1b[2J", "\u202e", "a" * 300),
        ]
    ),
)
ms = st.one_of(st.just(0.0), st.floats(0, 1e5))


@st.composite
def tokens(draw: st.DrawFn) -> Token:
    text = draw(labels)
    raw = text.encode() if draw(st.booleans()) else draw(st.binary(max_size=4)) + b"\n"
    return Token(
        id=draw(st.integers(0, 300_000)),
        text=text,
        bytes_hex=raw.hex(),
        label=text,
        special=draw(st.booleans()),
    )


@st.composite
def prefixes(draw: st.DrawFn, most: int = 30) -> tuple[PrefixToken, ...]:
    made = []
    for token in draw(st.lists(tokens(), max_size=most)):
        how = draw(st.sampled_from(["given", "drawn", "greedy", "forced"]))
        p = draw(st.one_of(st.none(), st.floats(0, 1)))
        made.append(PrefixToken(token=token, how=how, p=p, rank=None if p is None else 1))
    return tuple(made)


@st.composite
def choices(draw: st.DrawFn) -> Choice:
    """A choice whose raw and final probabilities each sum to one with their tails."""
    weights = draw(st.lists(st.floats(1e-6, 1.0), min_size=2, max_size=30))
    weights.sort(reverse=True)
    total = sum(weights)
    p = [weight / total for weight in weights]
    shown = draw(st.integers(1, len(p) - 1))
    survivors = draw(st.integers(1, len(p)))
    mass = sum(p[:survivors])
    final = [value / mass if index < survivors else 0.0 for index, value in enumerate(p)]
    stage_name = draw(st.sampled_from(["top_k", "top_p", "min_p", "logit_bias", "some_long_name"]))
    everyone = [
        Candidate(
            **structs.asdict(draw(tokens())),
            rank=index + 1,
            logit=draw(st.floats(-1e4, 1e4)),
            p=p[index],
            final_p=final[index],
            cut_by=None if index < survivors else stage_name,
        )
        for index in range(len(p))
    ]
    everyone = [structs.replace(one, id=index) for index, one in enumerate(everyone)]
    bounds = [0.0]
    for value in final[:survivors]:
        bounds.append(bounds[-1] + value)
    ribbon = tuple(
        Interval(id=index, label=everyone[index].label, low=bounds[index], high=bounds[index + 1])
        for index in range(min(survivors, draw(st.integers(1, 20))))
    )
    how = draw(st.sampled_from(["drawn", "drawn", "greedy", "forced", "given"]))
    at = draw(st.integers(0, len(p) - 1 if how in ("forced", "given") else survivors - 1))
    low, high = (bounds[at], bounds[at + 1]) if at < survivors else (None, None)
    u = None
    if how == "drawn" and low is not None and high is not None:
        u = min(low + (high - low) * draw(st.floats(0, 0.999)), 1 - 2.0**-53)
    stages = [
        StageRecord(
            name=draw(st.sampled_from(["penalties", "temperature", stage_name])),
            settings=draw(
                st.dictionaries(
                    st.sampled_from(["repeat", "k", "tokens"]),
                    st.one_of(st.integers(0, 10**6), st.floats(0, 100)),
                    max_size=3,
                )
            ),
            survivors_before=len(p),
            survivors=survivors,
            mass_cut=draw(st.floats(0, 1)),
            entropy_before_bits=draw(st.floats(0, 18)),
            entropy_bits=draw(st.floats(0, 18)),
            skipped=draw(st.sampled_from([None, "off: k = 0", "off: a, b, c", "one is left"])),
            figures=draw(st.sampled_from([{}, {"chance": 0.5}])),
        )
        for _ in range(draw(st.integers(0, 9)))
    ]
    given_by_person = how == "given"
    if given_by_person:
        everyone = [structs.replace(one, final_p=None, cut_by=None) for one in everyone]
        ribbon, stages, low, high = (), [], None, None
    cut = len(p) - max(survivors, shown)
    return Choice(
        position=draw(st.integers(0, 9000)),
        vocab_size=len(p),
        entropy_bits=draw(st.floats(0, 18)),
        final_entropy_bits=None if given_by_person else draw(st.floats(0, 18)),
        order=draw(st.sampled_from(["llamacpp", "transformers"])),
        candidates=tuple(everyone[:shown]),
        tail=Tail(
            count=len(p) - shown,
            p=sum(p[shown:]),
            final_p=None if given_by_person else sum(final[shown:]),
            cut={stage_name: cut} if cut and not given_by_person else {},
        ),
        stages=tuple(stages),
        ribbon=ribbon,
        chosen=everyone[at],
        draw=Draw(how=how, u=u, low=low, high=high, attempt=draw(st.integers(0, 3)), seed=7),
    )


@st.composite
def caches(draw: st.DrawFn) -> CacheRecord:
    limit = draw(st.integers(1, 9000))
    positions = draw(st.integers(0, limit))
    kept = draw(st.integers(0, positions))
    layers, heads, dim, item = (draw(st.integers(1, 99)) for _ in range(4))
    each = layers * heads * dim * 2 * item
    return CacheRecord(
        positions=positions,
        bytes=positions * each,
        allocated_bytes=limit * each,
        kept=kept,
        computed=draw(st.sampled_from([positions - kept, 0])),
        dtype="float32",
        bytes_per_position=each,
        context_length=limit,
        layers=layers,
        kv_heads=heads,
        head_dim=dim,
        itemsize=item,
    )


@st.composite
def passes(draw: st.DrawFn, *, prefill: bool) -> Latency:
    parts = {name: draw(ms) for name in ("layers", "head", "copy", "sample")}
    whole = parts["layers"] + parts["head"] + parts["copy"]
    return Latency(
        prefill=whole if prefill else 0.0,
        decode=0.0 if prefill else whole,
        total=whole + parts["sample"],
        positions=draw(st.integers(2, 900)) if prefill else 1,
        **parts,
    )


histories = st.builds(
    LatencyHistory,
    steps_ms=st.lists(ms, max_size=256).map(tuple),
    prefill=st.none() | passes(prefill=True),
    decode=st.none() | passes(prefill=False),
    last=st.none() | passes(prefill=False) | passes(prefill=True),
    paint_ms=st.none() | ms,
)
