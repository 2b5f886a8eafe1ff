"""What a person must know of a model before trusting its numbers."""

from __future__ import annotations

from msgspec import structs

from tests.app.fake_loop import MODEL, FakeLoop
from tokenloop.app.conductor import Conductor
from tokenloop.app.words import model_facts
from tokenloop.loop.events import Loaded
from tokenloop.sampling import SamplerSettings


def test_it_is_told_when_the_model_is_loaded() -> None:
    told: list[tuple[str, str]] = []
    conductor = Conductor(
        FakeLoop(lambda _: None), lambda text, severity: told.append((text, severity))
    )
    conductor.load("x", device="cpu", dtype="auto", threads=1, settings=SamplerSettings(), seed=7)
    model = structs.replace(MODEL, notices=("4 of 13 products run unpacked",))
    conductor.handle(Loaded(request=1, model=model, load_ms=1.0))
    assert told == [("4 of 13 products run unpacked", "warning")]


def test_packed_weights_are_among_the_models_facts() -> None:
    assert "packed weights" in model_facts(structs.replace(MODEL, precision="fast"))
    assert "packed weights" not in model_facts(MODEL)
