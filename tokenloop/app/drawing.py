"""From the view to the panels: each gets what it draws, nothing else."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from textual.content import Content

from tokenloop.app.keys import BY_ID, PANELS, keys_of
from tokenloop.app.words import one_line
from tokenloop_widgets import (
    CachePanel,
    CandidatesPanel,
    Key,
    LatencyPanel,
    Panel,
    SamplerPanel,
    StatusBar,
    SummaryPanel,
    TextPanel,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tokenloop.app.conductor import Conductor
    from tokenloop.app.view import View

NOW_KEYS = (
    ("step", "step"),
    ("rewind", "rewind"),
    ("roll", "roll again"),
    ("take", "take"),
    ("edit", "edit"),
    ("run", "run"),
    ("look_back", "look back"),
    ("sampler", "sampler"),
    ("new", "new prompt"),
    ("model", "model"),
)
THEN_KEYS = (
    ("cancel", "back to now"),
    ("look_back", "earlier"),
    ("look_on", "later"),
    ("go_back", "go back here for real"),
    ("regenerate", "and run on"),
)
RUNNING_KEYS = (("run", "pause"), ("cancel", "stop"), ("sampler", "sampler"))
READING_KEYS = (("cancel", "stop"),)
EMPTY_KEYS = (("new", "new prompt"), ("model", "model"))
ALWAYS = (("help", "help"), ("quit", "quit"))


@dataclass(frozen=True)
class Panels:
    """The panels, in the order of their numbers, and the summary that stands for three."""

    text: TextPanel = field(default_factory=lambda: TextPanel(id="text"))
    candidates: CandidatesPanel = field(default_factory=lambda: CandidatesPanel(id="candidates"))
    sampler: SamplerPanel = field(default_factory=lambda: SamplerPanel(id="sampler"))
    cache: CachePanel = field(default_factory=lambda: CachePanel(id="cache"))
    latency: LatencyPanel = field(default_factory=lambda: LatencyPanel(id="latency"))
    summary: SummaryPanel = field(default_factory=lambda: SummaryPanel(id="summary"))

    def __iter__(self) -> Iterator[Panel]:
        """The five, without the summary."""
        return (getattr(self, name) for name in PANELS)

    def __getitem__(self, name: str) -> Panel:
        """One of the five by its id."""
        return next(panel for panel in self if panel.id == name)


def draw_panels(panels: Panels, view: View, *, probabilities: bool, landed: int) -> None:
    """Give every panel its part of the view; ``landed`` tokens at the end are marked."""
    then = view.then_record.token if view.then_record else None
    placeholder = view.placeholder
    panels.text.show(
        view.prefix,
        pending=view.pending,
        cursor=view.then_position,
        probabilities=probabilities,
        landed=landed,
        full=view.full,
        reading=view.reading,
        placeholder=placeholder,
    )
    panels.candidates.show(
        view.choice,
        after=view.token_before,
        then=then,
        landed=landed > 0,
        watched=view.watched,
        biases=view.biases,
        placeholder=placeholder,
    )
    panels.sampler.show(view.choice, then=then, placeholder=placeholder)
    panels.cache.show(view.cache, then=then)
    draw_latency(panels, view)


def draw_latency(panels: Panels, view: View) -> None:
    """Give the passes to those that draw them."""
    record = view.then_record
    panels.latency.show(view.history, then=record)
    panels.summary.show(
        view.choice, view.cache, view.history, then=record.latency_ms if record else None
    )


def band_text(view: View) -> Content:
    """The band above the panels in the moment that is not now."""
    record = view.then_record
    if record is None:
        return Content("")
    how = {
        "drawn": "was drawn",
        "greedy": "was taken as the best",
        "forced": "was forced",
        "given": "was given; what the model had expected there",
    }[record.draw.how]
    where = f"token {record.position + 1} of {len(view.prefix)}"
    return Content(f" THEN   how {record.token.label} {how}   ·   {where} ")


def show_status(bar: StatusBar, conductor: Conductor) -> None:
    """The model, the seed, and the work in hand; a model on its way where there is no other."""
    fetching = conductor.fetching if conductor.state_words is None else None
    progress = conductor.progress or fetching
    text_is_open = conductor.snapshot is not None
    bar.show(
        conductor.model,
        seed=conductor.seed if text_is_open else None,
        order=conductor.settings.order if text_is_open else None,
        working=conductor.state_words or (fetching.what if fetching else None),
        done=progress.done if progress else 0,
        total=progress.total if progress else 0,
        unit=one_line(progress.unit) if progress else "",
        repetition=conductor.snapshot.repetition if conductor.snapshot else None,
    )


def footer_keys(conductor: Conductor, keymap: dict[str, str]) -> list[Key]:
    """The keys that matter now, the most wanted first, help and quit always."""
    if conductor.running:
        wanted: tuple[tuple[str, str], ...] = RUNNING_KEYS
    elif conductor.opening or (conductor.reading and conductor.state_words):
        wanted = READING_KEYS
    elif conductor.snapshot is None:
        wanted = EMPTY_KEYS
    elif conductor.then:
        wanted = THEN_KEYS
    else:
        wanted = NOW_KEYS
    return [
        Key(keys_of(BY_ID[command], keymap)[0], word, command, pinned=(command, word) in ALWAYS)
        for command, word in (*wanted, *ALWAYS)
    ]
