"""A sweep: the chain over a range of one setting."""

from __future__ import annotations

import time

import numpy as np

from tokenloop.errors import DistributionError, SettingError
from tokenloop.records import SweepPoint, SweepRecord
from tokenloop.sampling import PARAMETERS, Parameter, SamplerSettings, run_chain
from tokenloop.session.now import Now
from tokenloop.session.situations import Situate
from tokenloop.session.vocabulary import Vocabulary

MOST_POINTS = 401


def sweep(
    now: Now,
    settings: SamplerSettings,
    name: str,
    situate: Situate,
    vocabulary: Vocabulary,
    *,
    points: int,
    shown: int,
) -> SweepRecord:
    """Run the chain on the held logits at many values of one setting.

    Values that are refused, or leave nothing to draw from, have no point.

    Args:
        now: what is held.
        settings: the session's; one of them varies.
        name: which.
        situate: gives the situation under each.
        vocabulary: for labels.
        points: values, about; the current one is among them.
        shown: candidates to follow, the model's best.

    Raises:
        SettingError: no such number, or its stage does not run.
    """
    parameter = _parameter(name, settings)
    if not 2 <= points <= MOST_POINTS:
        raise SettingError("points", points, f"a whole number from 2 to {MOST_POINTS}")
    start = time.perf_counter()
    ids = now.raw.ids[now.raw.best(shown)]
    current = getattr(settings, name)
    made: list[SweepPoint] = []
    for value in values(parameter, current, points):
        try:
            varied = settings.replace(**{name: value})
            final = run_chain(now.raw, situate(varied), varied).final
        except (DistributionError, SettingError):
            continue
        made.append(
            SweepPoint(
                value=value,
                survivors=len(final),
                entropy_bits=final.entropy_bits,
                final_p=tuple(final.probabilities_of(ids).tolist()),
            )
        )
    return SweepRecord(
        position=now.choice.position,
        setting=name,
        label=parameter.label,
        current=current,
        candidates=tuple(vocabulary.token(token_id) for token_id in ids.tolist()),
        points=tuple(made),
        sweep_ms=(time.perf_counter() - start) * 1e3,
    )


def values(parameter: Parameter, current: float, points: int) -> list[float]:
    """The values to try, ascending: evenly spaced, or for wide whole numbers evenly in their logs.

    Args:
        parameter: what varies.
        current: its value, always among them; the range widens to hold it.
        points: how many, about.
    """
    low, high = parameter.swept
    low, high = min(low, current), max(high, current)
    if not parameter.whole:
        even = np.linspace(low, high, points).round(10).tolist()
        return sorted({*even, current})
    whole = range(int(low), int(high) + 1)
    if len(whole) > points:
        logs = np.geomspace(max(1, low), high, points).round().astype(int).tolist()
        return sorted({*logs, int(low), int(current)})
    return list(whole)


def _parameter(name: str, settings: SamplerSettings) -> Parameter:
    parameter = PARAMETERS.get(name)
    if parameter is None:
        raise SettingError("sweep", name, f"one of {', '.join(PARAMETERS)}")
    stage = parameter.stage
    if stage and not settings.runs(stage):
        state = "switched off" if stage in settings.chain else "not in the chain"
        raise SettingError("sweep", name, f"its stage {stage} is {state}")
    return parameter
