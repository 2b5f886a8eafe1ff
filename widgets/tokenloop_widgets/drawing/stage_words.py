"""What one stage's record says, in few cells."""

from __future__ import annotations

import re

from tokenloop.records import StageRecord
from tokenloop_widgets.drawing.cells import clip_words, first_fitting, safe
from tokenloop_widgets.drawing.figures import bits, count, percent, setting

SWITCHED_OFF = "switched off"
CLAUSE = re.compile(r"[,:] | \(")
"""What stands behind the words that a reason may end with."""

GRAMMARS = {"JSON Schema": "JSON"}
"""Kinds of grammars whose name is too long for the few cells."""

BEFORE = {"dry": "×", "dynamic_temperature": "±", "mirostat": "τ "}
"""What stands before the first setting of stages that have several."""


def stage_setting(stage: StageRecord) -> str:
    """A stage's setting in few cells: of several the one that says most."""
    values = stage.settings
    match stage.name:
        case "logit_bias":
            return _some(values.get("tokens", 0), "id")
        case "bad_words":
            return _some(values.get("sequences", 0), "text")
        case "grammar":
            kind = str(values.get("kind", ""))
            return GRAMMARS.get(kind, kind)
        case "penalties" if "repeat" in values:
            return _penalty(values)
        case "xtc" if len(values) > 1:
            return " ≥".join(setting(value) for value in list(values.values())[:2])
    first = [setting(value) for value in values.values()][:1]
    return "".join([BEFORE.get(stage.name, ""), *first])


def _penalty(values: dict[str, float | int | str]) -> str:
    """The first of the three penalties that does something."""
    for name, mark in (("frequency", "f "), ("presence", "p ")):
        if values["repeat"] == 1 and values.get(name):
            return f"{mark}{setting(values[name])}"
    return f"×{setting(values['repeat'])}"


def _some(number: float | int | str, what: str) -> str:
    return f"{setting(number)} {what if number == 1 else f'{what}s'}"


def stage_flow(stage: StageRecord) -> str:
    """What the stage did to the candidates: ``49,152 → 40``, or how it reshaped them."""
    if stage.survivors != stage.survivors_before:
        return f"{count(stage.survivors_before)} → {count(stage.survivors)}"
    change = stage.entropy_bits - stage.entropy_before_bits
    if abs(change) < 0.005:
        return count(stage.survivors)
    return "sharper" if change < 0 else "flatter"


def cut_figure(stage: StageRecord) -> str:
    """The mass that a stage cut: ``−8.1 %``; nothing where it cut none."""
    if stage.survivors == stage.survivors_before:
        return ""
    figure = percent(stage.mass_cut)
    return figure if figure.startswith("<") else f"−{figure}"


def entropy_after(stage: StageRecord) -> str:
    """``2.43 bits``."""
    return bits(stage.entropy_bits)


def entropy_change(stage: StageRecord) -> str:
    """``3.58 → 2.43 bits``."""
    return f"{stage.entropy_before_bits:.2f} → {bits(stage.entropy_bits)}"


def reason(stage: StageRecord, room: int) -> str:
    """Why a stage did nothing, as many of its clauses as fit."""
    why = safe(stage.why)
    ends = [clause.start() for clause in CLAUSE.finditer(why)]
    ways = [why, *(why[:end] for end in reversed(ends))]
    return first_fitting(ways, room) or clip_words(ways[-1], room)


def remark(stage: StageRecord) -> str:
    """What it found, and which definition it follows where the traditions differ."""
    return " · ".join(text for text in (stage.note, stage.definition) if text)
