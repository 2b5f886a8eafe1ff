"""Promise 2: after any sequence of commands the logits equal a fresh prefill's."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from msgspec import structs

from tests.session.conftest import CountingModel, any_settings
from tokenloop.errors import ContextFullError, DistributionError
from tokenloop.sampling import PARAMETERS, SamplerSettings
from tokenloop.sampling.chain import SWITCHED_OFF
from tokenloop.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable

    from tokenloop_models.model import Model

words = st.text(alphabet="the rain é日😀\n.", min_size=1, max_size=12)
fractions = st.floats(0, 1)


class AnyOrder(RuleBasedStateMachine):
    """Commands in any order on one session."""

    model: ClassVar[CountingModel]

    def __init__(self) -> None:
        super().__init__()
        self.settings = SamplerSettings(temperature=1.5, top_k=0, top_p=1.0, min_p=0.0)
        self.session = Session(self.model, settings=self.settings, seed=11, shown=5)
        self.session.open(self.session.encode("in the"))
        self.cache_is_whole = True
        self.read: list[int] = []

    def do(self, command: Callable[[], object]) -> bool:
        """Do it; where a stage leaves nothing to draw from, all must be as it was."""
        before = self.session.snapshot()
        try:
            command()
        except (ContextFullError, DistributionError) as refused:
            after = self.session.snapshot()
            assert structs.replace(after, cache=before.cache) == before
            self.cache_is_whole &= isinstance(refused, ContextFullError) or before == after
            return False
        self.cache_is_whole = True
        return True

    @rule()
    def step(self) -> None:
        expected = self.session.held.chosen.id
        if self.do(self.session.step):
            assert self.session.ids[-1] == expected

    @rule(fraction=fractions)
    def rewind(self, fraction: float) -> None:
        self.do(lambda: self.session.rewind_to(max(1, int(fraction * len(self.session.ids)))))

    @rule(fraction=fractions, inserted=words, removed=st.integers(0, 5))
    def edit(self, fraction: float, inserted: str, removed: int) -> None:
        text = self.session.text
        at = int(fraction * len(text))
        wanted = text[:at] + inserted + text[at + removed :]
        if self.do(lambda: self.session.edit(wanted)):
            assert self.session.text == wanted

    @rule(text=words)
    def type(self, text: str) -> None:
        self.do(lambda: self.session.type(text))

    @rule(fraction=fractions)
    def force(self, fraction: float) -> None:
        candidates = self.session.held.candidates
        chosen = candidates[int(fraction * (len(candidates) - 1))].id
        if self.do(lambda: self.session.force(chosen)):
            assert self.session.ids[-1] == chosen

    @precondition(lambda self: not self.settings.greedy)
    @rule()
    def roll(self) -> None:
        self.do(self.session.roll)

    @precondition(lambda self: not self.settings.greedy)
    @precondition(lambda self: self.session.snapshot().prefix[-1].how != "given")
    @rule()
    def resample(self) -> None:
        self.do(self.session.resample)

    @rule(settings=any_settings())
    def configure(self, settings: SamplerSettings) -> None:
        if self.do(lambda: self.session.configure(settings)):
            self.settings = settings

    @rule(setting=st.sampled_from(sorted(PARAMETERS)), token_id=st.integers(0, 298))
    def ask_the_laboratory(self, setting: str, token_id: int) -> None:
        before = self.session.snapshot()
        passes = self.model.passes
        self.session.find(f"#{token_id}")
        self.session.compare(("now", self.settings), ("default", SamplerSettings()))
        stage = PARAMETERS[setting].stage
        if not stage or self.settings.runs(stage):
            self.session.sweep(setting, points=3)
        if not self.settings.greedy:
            self.session.draws(50)
        assert self.session.snapshot() == before
        self.session.watch(token_id)
        watched = self.session.snapshot()
        assert structs.replace(watched, watched=before.watched) == before
        if len(watched.watched) == 3:
            self.session.watch(watched.watched[0].id)
        assert self.model.passes == passes

    @invariant()
    def the_settings_and_the_chain_are_what_was_set(self) -> None:
        assert self.session.settings == self.settings
        stages = self.session.held.stages
        assert tuple(stage.name for stage in stages) == self.settings.chain
        switched_off = {stage.name for stage in stages if stage.skipped == SWITCHED_OFF}
        assert switched_off == set(self.settings.off)

    @invariant()
    def all_that_is_held_sums_to_one(self) -> None:
        choice = self.session.held
        assert sum(c.p for c in choice.candidates) + choice.tail.p == pytest.approx(1)
        assert sum(c.final_p for c in choice.candidates) + choice.tail.final_p == pytest.approx(1)

    @invariant()
    def a_watched_token_stands_where_the_records_say(self) -> None:
        snapshot = self.session.snapshot()
        for pin in snapshot.watched:
            assert pin.points[-1].position == len(self.session.ids)
            for point in pin.points[:-1]:
                record = self.session.look(point.position)
                shown = {c.id: c for c in (*record.candidates, record.chosen)}
                if pin.id in shown:
                    there = shown[pin.id]
                    assert (point.rank, point.final_p) == (there.rank, there.final_p)
                assert point.taken == (record.token.id == pin.id)

    @invariant()
    def logits_equal_a_fresh_prefills(self) -> None:
        ids = self.session.ids
        if ids != self.read:
            self.read = ids
            self.fresh = self.model.forward(ids, self.model.new_cache()).logits
        np.testing.assert_allclose(self.session.held_logits, self.fresh, atol=1e-4)

    @invariant()
    def the_cache_holds_exactly_the_prefix(self) -> None:
        cached = self.session.cached_ids
        assert list(cached) == self.session.ids[: len(cached)]
        assert self.session.snapshot().cache.positions == len(cached)
        assert len(cached) == len(self.session.ids) or not self.cache_is_whole


def test_any_sequence_of_commands_equals_a_fresh_prefill(tiny_model: Model) -> None:
    from hypothesis.stateful import run_state_machine_as_test

    AnyOrder.model = CountingModel(tiny_model)
    run_state_machine_as_test(AnyOrder)


@pytest.mark.parametrize("seed", [0, 3, 2**64 - 1])
def test_the_same_seed_replays_bit_for_bit(tiny_model: Model, seed: int) -> None:
    def generate() -> list[object]:
        session = Session(tiny_model, seed=seed)
        session.open(session.encode("of the"))
        return [(r.token.id, r.draw, r.candidates) for r in (session.step() for _ in range(12))]

    assert generate() == generate()
