"""What the panels draw, as one immutable value: now, or an earlier token."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Literal

from msgspec import structs

from tokenloop.labels import visible

if TYPE_CHECKING:
    from tokenloop.app.state import Given
    from tokenloop.records import (
        CacheRecord,
        Choice,
        LatencyHistory,
        ModelInfo,
        PrefixToken,
        StepRecord,
        Token,
    )
    from tokenloop.session.snapshot import Snapshot

Moment = Literal["empty", "now", "then"]

READING_CELLS = 60


@dataclass(frozen=True, eq=False)
class View:
    """The state of the main screen.

    Attributes:
        model: what runs, if anything does.
        snapshot: the session now.
        then_position: the token that the cursor is on, ``None`` now.
        then_record: how a token looked at was chosen. While the answer for a new position is on
            its way, the record before it stays, with its own title.
        landed: how many tokens at the end the last command appended.
        busy: what is being done, where nothing is shown yet.
        paint_ms: what the screen took for the last change.
        given: a text that is being read.
    """

    model: ModelInfo | None = None
    snapshot: Snapshot | None = None
    then_position: int | None = None
    then_record: StepRecord | None = None
    landed: int = 0
    busy: str | None = None
    paint_ms: float | None = None
    given: Given | None = None

    def draws_the_same_as(self, other: View) -> bool:
        """Whether the same objects are shown: no need to compare thousands of tokens."""
        return all(
            getattr(self, field.name) is getattr(other, field.name)
            for field in fields(self)
            if field.name != "paint_ms"
        )

    def with_paint(self, paint_ms: float) -> View:
        """The same view, and what it took to paint."""
        return replace(self, paint_ms=paint_ms)

    @property
    def moment(self) -> Moment:
        """Which of the two moments is drawn."""
        if self.snapshot is None:
            return "empty"
        return "then" if self.then_record else "now"

    @property
    def prefix(self) -> tuple[PrefixToken, ...]:
        """Every token so far."""
        return self.snapshot.prefix if self.snapshot else ()

    @property
    def choice(self) -> Choice | None:
        """The distribution to show: held now, or the record's."""
        if self.then_record:
            return self.then_record
        return self.snapshot.choice if self.snapshot else None

    @property
    def cache(self) -> CacheRecord | None:
        """The cache now, or after the pass looked at."""
        if self.then_record:
            return self.then_record.cache
        return self.snapshot.cache if self.snapshot else None

    @property
    def history(self) -> LatencyHistory | None:
        """The passes so far, with the screen's own time for the last change: now only."""
        if self.snapshot is None:
            return None
        paint_ms = self.paint_ms if self.moment == "now" else None
        return structs.replace(self.snapshot.latency, paint_ms=paint_ms)

    @property
    def pending(self) -> Choice | None:
        """The choice whose draw stands as a ghost at the end: now only."""
        return self.choice if self.moment == "now" and self.then_position is None else None

    @property
    def full(self) -> bool:
        """Whether no further token fits."""
        return self.snapshot is not None and self.snapshot.context_full

    @property
    def reading(self) -> str:
        """What is being read, as much as one line holds; nothing where nothing is."""
        if self.given is None or self.snapshot is None or self.given.command == "new":
            return ""
        old = self.snapshot.text if self.given.command == "edit" else ""
        new = self.given.text
        pairs = zip(old, new, strict=False)
        same = next((i for i, (a, b) in enumerate(pairs) if a != b), min(len(old), len(new)))
        shown = visible(new[same : same + READING_CELLS])
        return shown if len(new) - same <= READING_CELLS else f"{shown}…"

    @property
    def token_before(self) -> Token | None:
        """The token that the shown distribution comes after."""
        choice = self.choice
        if choice is None or not 0 < choice.position <= len(self.prefix):
            return None
        return self.prefix[choice.position - 1].token

    @property
    def watched(self) -> frozenset[int]:
        """Ids that are pinned."""
        return (
            frozenset(item.id for item in self.snapshot.watched) if self.snapshot else frozenset()
        )

    @property
    def biases(self) -> dict[int, float]:
        """What is added to single logits: now only, an earlier token's are not known."""
        if self.snapshot is None or self.moment != "now":
            return {}
        settings = self.snapshot.settings
        return settings.logit_bias if settings.runs("logit_bias") else {}

    @property
    def placeholder(self) -> str:
        """What a panel says where there is nothing to draw."""
        if self.snapshot:
            return self.snapshot.notice or "nothing is held"
        if self.busy:
            return f"{self.busy} …"
        return "no prompt yet: n begins one" if self.model else "no model yet"
