"""The fake loop's laboratory: answers worked out from the same small table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tokenloop.records import (
    ChainRecord,
    ComparedCandidate,
    Comparison,
    DrawCount,
    DrawsRecord,
    FoundTokens,
    SweepPoint,
    SweepRecord,
    Token,
    Watched,
    WatchPoint,
)
from tokenloop.sampling import PARAMETERS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tokenloop.records import Choice
    from tokenloop.sampling.settings import SamplerSettings

STEPS = 21


def _fields(token: Token) -> dict[str, Any]:
    return {name: getattr(token, name) for name in Token.__struct_fields__}


def draws(held: Choice, count: int) -> DrawsRecord:
    """Counts a little beside what is expected, the same each time."""
    counts = []
    for place, candidate in enumerate(held.candidates):
        expected = (candidate.final_p or 0.0) * count
        drawn = int(expected * (1.04 if place % 2 else 0.98))
        counts.append(
            DrawCount(**_fields(candidate), final_p=candidate.final_p or 0.0, count=drawn)
        )
    return DrawsRecord(
        position=held.position,
        draws=count,
        seed=held.draw.seed,
        counts=tuple(counts),
        rest_count=max(0, count - sum(each.count for each in counts)),
        rest_p=0.0,
        chi_square=4.21,
        degrees=7,
        p_value=0.755,
        draw_ms=1.4,
    )


def sweep(
    under: Callable[[SamplerSettings], Choice], settings: SamplerSettings, name: str
) -> SweepRecord:
    """The choice at evenly spaced values of a setting."""
    parameter = PARAMETERS[name]
    low, high = parameter.swept
    even = [round(low + (high - low) * step / (STEPS - 1), 6) for step in range(STEPS)]
    current = getattr(settings, name)
    values = sorted({*(map(int, even) if parameter.whole else even), current})
    shown = under(settings).candidates[:8]
    points = []
    for value in values:
        choice = under(settings.replace(**{name: value}))
        points.append(
            SweepPoint(
                value=value,
                survivors=choice.stages[-1].survivors,
                entropy_bits=choice.final_entropy_bits or 0.0,
                final_p=tuple(candidate.final_p or 0.0 for candidate in choice.candidates[:8]),
            )
        )
    return SweepRecord(
        position=under(settings).position,
        setting=name,
        label=parameter.label,
        current=current,
        candidates=tuple(Token(**_fields(candidate)) for candidate in shown),
        points=tuple(points),
        sweep_ms=31.0,
    )


def compare(
    under: Callable[[SamplerSettings], Choice],
    left: tuple[str, SamplerSettings],
    right: tuple[str, SamplerSettings],
) -> Comparison:
    """Two choices, candidate by candidate."""
    one, other = under(left[1]), under(right[1])
    compared = [
        ComparedCandidate(
            **_fields(a),
            rank=a.rank,
            p=a.p,
            left_p=a.final_p or 0.0,
            right_p=b.final_p or 0.0,
            left_cut_by=a.cut_by,
            right_cut_by=b.cut_by,
        )
        for a, b in zip(one.candidates, other.candidates, strict=True)
    ]
    kept = [each for each in compared if each.left_p or each.right_p]
    return Comparison(
        position=one.position,
        left=_chain(left[0], one),
        right=_chain(right[0], other),
        candidates=tuple(sorted(kept, key=lambda each: -abs(each.left_p - each.right_p))),
        only_left=sum(not each.right_p for each in kept),
        only_right=sum(not each.left_p for each in kept),
        both=sum(bool(each.left_p and each.right_p) for each in kept),
        total_variation=sum(abs(each.left_p - each.right_p) for each in kept) / 2,
    )


def _chain(name: str, choice: Choice) -> ChainRecord:
    return ChainRecord(
        name=name,
        order=choice.order,
        stages=choice.stages,
        survivors=choice.stages[-1].survivors,
        entropy_bits=choice.final_entropy_bits or 0.0,
        chosen=Token(**_fields(choice.chosen)),
        draw=choice.draw,
    )


def find(held: Choice, query: str) -> FoundTokens:
    """Candidates whose text holds the query, or whose id it is."""
    digits = query.removeprefix("#")
    if query.startswith("#") and digits.isdigit():
        kind, hits = "id", [each for each in held.candidates if each.id == int(digits)]
    else:
        kind, hits = "text", [each for each in held.candidates if query in (each.text or "")]
    return FoundTokens(query=query, kind=kind, candidates=tuple(hits), total=len(hits))


def watched(pin: Token, taken: Sequence[int], choice_at: Callable[[int], Choice]) -> Watched:
    """A pin at every position from 1 on at which it is a candidate."""
    points = []
    for position in range(1, len(taken) + 1):
        for candidate in choice_at(position).candidates:
            if candidate.id == pin.id:
                points.append(
                    WatchPoint(
                        position=position,
                        rank=candidate.rank,
                        p=candidate.p,
                        final_p=candidate.final_p,
                        taken=position < len(taken) and taken[position] == pin.id,
                    )
                )
    return Watched(**_fields(pin), points=tuple(points))
