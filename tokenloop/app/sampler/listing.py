"""The window's rows as they are drawn: what each setting is and what its stage does now."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tokenloop.app.safety import strip_controls
from tokenloop.app.sampler.rows import is_neutral
from tokenloop.labels import clean
from tokenloop.sampling import SamplerSettings
from tokenloop_widgets import ORDER_NAMES, Cell, StageRow, redraw_words, stage_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tokenloop.app.sampler.dials import Dials
    from tokenloop.app.sampler.rows import Row
    from tokenloop.records import Choice, LatencyHistory, StageRecord
    from tokenloop_widgets import StageState


def stage_rows(rows: Sequence[Row], dials: Dials, choice: Choice | None) -> tuple[StageRow, ...]:
    """Every row with its values and, where something is held, what its stage did to it."""
    records = {stage.name: stage for stage in choice.stages} if choice else {}
    return tuple(_row(row, dials, records.get(row.name)) for row in rows)


def _row(row: Row, dials: Dials, record: StageRecord | None) -> StageRow:
    plain = replace(dials, settings=SamplerSettings())
    cells = tuple(
        Cell(field.short, clean(field.shown(dials)), field.get(dials) == field.get(plain))
        for field in row.fields
    )
    name = stage_name(row.name) if row.stage else row.name
    return StageRow(name, _state(row, dials.settings, record), cells, record)


def _state(row: Row, settings: SamplerSettings, record: StageRecord | None) -> StageState:
    if not row.stage:
        return "none"
    if not row.in_chain:
        return "absent"
    if row.name in settings.off:
        return "switched off"
    if record is None:
        return "off" if is_neutral(settings, row.name) else "idle"
    if record.skipped is None:
        return "acts"
    return "off" if record.off else "idle"


def remark(record: StageRecord) -> str:
    """What a stage has to say: why it did nothing, what it found, its definition."""
    parts = (record.skipped, record.note, record.definition)
    return " · ".join(strip_controls(part) for part in parts if part)


def titles_of(settings: SamplerSettings, history: LatencyHistory | None) -> list[str]:
    """The window's title: whose order, and what the last redraw took; the fullest first."""
    order = "own order" if settings.stages else ORDER_NAMES[settings.order]
    told = redraw_words(history) if history else ""
    ways = (("sampler", order, told), ("sampler", told), ("sampler",))
    return [" · ".join(text for text in way if text) for way in ways]
