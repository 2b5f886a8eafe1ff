"""What the sampler's stages did, in lines: those that acted, and why others asked for did not."""

from __future__ import annotations

from collections.abc import Iterable

from rich.text import Text

from tokenloop.cli.figures import CUT, SAMPLER
from tokenloop.labels import visible
from tokenloop.records import StageRecord
from tokenloop.sampling.parameters import PARAMETERS
from tokenloop.sampling.settings import SamplerSettings

NAME, CHANGE = 24, 22
"""Least columns of a stage with its settings, and of what it changed."""


def stage_lines(stages: Iterable[StageRecord], settings: SamplerSettings) -> list[Text]:
    """A line for each stage that acted; one for all that were asked for and did nothing.

    A stage that nobody asked for and that is off by default is left out; the JSON has it.

    Args:
        stages: what each did, in the chain's order.
        settings: those that they followed.
    """
    stages = tuple(stages)
    lines = [_acted(stage) for stage in stages if stage.skipped is None]
    asked = _asked_for(settings)
    idle = [
        f"{stage.name}: {stage.skipped}"
        for stage in stages
        if stage.skipped is not None and (stage.name in asked or not stage.off)
    ]
    if not lines:
        lines.append(Text("no stage changes anything", SAMPLER))
    if idle:
        lines.append(_line(f"no effect: {' · '.join(idle)}", CUT))
    return lines


def headed(heading: str, lines: Iterable[Text]) -> list[Text]:
    """Lines with a heading before the first and room for it before the others."""
    return [
        Text.assemble((f"{'' if index else heading:<9}", line.style), line)
        for index, line in enumerate(lines)
    ]


def _asked_for(settings: SamplerSettings) -> set[str]:
    """Stages of which a number is not the default, and those that were switched off."""
    default = SamplerSettings()
    changed = {
        parameter.stage
        for name, parameter in PARAMETERS.items()
        if getattr(settings, name) != getattr(default, name)
    }
    return changed | set(settings.off)


def _acted(stage: StageRecord) -> Text:
    parts = [f"{stage.name} {_values(stage)}".ljust(NAME), _change(stage).ljust(CHANGE)]
    says = " · ".join(text for text in (stage.note, stage.definition) if text)
    return _line(f"{' '.join(parts)} {says}".rstrip(), SAMPLER)


def _line(text: str, style: str) -> Text:
    """A line in which plain spaces and the labels' own signs stay as they are."""
    return Text(" ".join(visible(word) for word in text.split(" ")), style)


def _values(stage: StageRecord) -> str:
    values = {name: _value(value) for name, value in stage.settings.items()}
    if len(values) == 1:
        return next(iter(values.values()))
    return ", ".join(f"{name} {value}" for name, value in values.items())


def _value(value: float | int | str) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _change(stage: StageRecord) -> str:
    if stage.survivors < stage.survivors_before:
        survivors = f"{stage.survivors_before:>6,} → {stage.survivors:,}"
        return f"{survivors}, −{stage.mass_cut * 100:.2f} %"
    return f"{stage.entropy_before_bits:>6.2f} → {stage.entropy_bits:.2f} bits"
