"""Promise 2: after any sequence of commands the logits equal a fresh prefill's."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from tokenloop.errors import ContextFullError
from tokenloop.sampling import SamplerSettings
from tokenloop.session import Session

if TYPE_CHECKING:
    from tokenloop_models.model import Model

words = st.text(alphabet="the rain é日😀\n.", min_size=1, max_size=12)
fractions = st.floats(0, 1)


class AnyOrder(RuleBasedStateMachine):
    """Commands in any order on one session."""

    model: ClassVar[Model]

    def __init__(self) -> None:
        super().__init__()
        self.settings = SamplerSettings(temperature=1.5, top_k=0, top_p=1.0, min_p=0.0)
        self.session = Session(self.model, settings=self.settings, seed=11, shown=5)
        self.session.open(self.session.encode("in the"))

    @rule()
    def step(self) -> None:
        expected = self.session.held.chosen.id
        assert self.session.step().token.id == expected

    @rule(fraction=fractions)
    def rewind(self, fraction: float) -> None:
        self.session.rewind_to(max(1, int(fraction * len(self.session.ids))))

    @rule(fraction=fractions, inserted=words, removed=st.integers(0, 5))
    def edit(self, fraction: float, inserted: str, removed: int) -> None:
        text = self.session.text
        at = int(fraction * len(text))
        wanted = text[:at] + inserted + text[at + removed :]
        try:
            self.session.edit(wanted)
        except ContextFullError:
            return
        assert self.session.text == wanted

    @rule(text=words)
    def type(self, text: str) -> None:
        try:
            self.session.type(text)
        except ContextFullError:
            return

    @rule(fraction=fractions)
    def force(self, fraction: float) -> None:
        candidates = self.session.held.candidates
        self.session.force(candidates[int(fraction * (len(candidates) - 1))].id)

    @rule()
    def roll(self) -> None:
        self.session.roll()

    @precondition(lambda self: self.session.snapshot().prefix[-1].how != "given")
    @rule()
    def resample(self) -> None:
        self.session.resample()

    @rule(t=st.sampled_from([0.3, 1.0, 2.0]))
    def configure(self, t: float) -> None:
        self.session.configure(self.settings.replace(temperature=t))

    @invariant()
    def logits_equal_a_fresh_prefills(self) -> None:
        ids = self.session.ids
        fresh = self.model.forward(ids, self.model.new_cache()).logits
        np.testing.assert_allclose(self.session.held_logits, fresh, atol=1e-4)

    @invariant()
    def the_cache_holds_exactly_the_prefix(self) -> None:
        assert self.session.cached_ids == tuple(self.session.ids)
        assert self.session.snapshot().cache.positions == len(self.session.ids)


def test_any_sequence_of_commands_equals_a_fresh_prefill(tiny_model: Model) -> None:
    from hypothesis.stateful import run_state_machine_as_test

    AnyOrder.model = tiny_model
    run_state_machine_as_test(AnyOrder)


@pytest.mark.parametrize("seed", [0, 3, 2**64 - 1])
def test_the_same_seed_replays_bit_for_bit(tiny_model: Model, seed: int) -> None:
    def generate() -> list[object]:
        session = Session(tiny_model, seed=seed)
        session.open(session.encode("of the"))
        return [(r.token.id, r.draw, r.candidates) for r in (session.step() for _ in range(12))]

    assert generate() == generate()
