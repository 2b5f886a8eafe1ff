"""Every family's recorded decode is its decode: windows, caps, learned and turned positions.

What is replayed here is the step as it is, on the CPU (see ``tests/models/test_recorded.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from tests.models.families.shapes import LONG_TEXTS, SHAPES
from tokenloop_models import cache as caches
from tokenloop_models import load, loading

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.models.families.reference import Reference
    from tokenloop_models.cache import KVCache
    from tokenloop_models.model import Model, Output

IDS = [5, 77, 140, 9, 9, 280, 33, 61, 298, 0, 12, 100, 210, 4, 45, 181, 77, 7, 150, 260]
OTHERS = [3, 222, 77, 91, 14, 14, 199, 8]
MIXTURES = [name for name in SHAPES if name.startswith(("mixtral", "qwen3_moe", "olmoe"))]
RECORDED = [name for name in (*SHAPES, *LONG_TEXTS) if name not in MIXTURES]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows of 8, 16 and 32 positions, so that a short text crosses two borders."""
    monkeypatch.setattr(caches, "BLOCK", 8)


def decoded(model: Model, cache: KVCache, ids: list[int], start: int) -> list[Output]:
    """Step through a text from a position on: what each decode answers.

    A position from which on all keys must turn in another way is a prefill of everything.
    """
    outputs = []
    for position in range(start, len(ids)):
        if cache.reusable(position + 1) == position:
            outputs.append(model.forward([ids[position]], cache))
        else:
            cache.truncate(0)
            model.forward(ids[: position + 1], cache)
    return outputs


def assert_same(found: list[Output], expected: list[Output]) -> None:
    """To float32's own rounding: torch's attention, and with what is masked added as 0, adds in
    another order than the products written out that a plain decode takes.
    """
    for one, other in zip(found, expected, strict=True):
        assert (one.replayed, other.replayed) == (True, False)
        tolerance = max(2e-5, 4e-6 * float(np.abs(other.logits).max()))
        np.testing.assert_allclose(one.logits, other.logits, rtol=0, atol=tolerance)


@pytest.mark.parametrize("name", RECORDED)
def test_a_recorded_decode_equals_a_plain_one(
    reference: Callable[[str], Reference], name: str
) -> None:
    """From the first position on, across windows, after a rewind, and after a prefill."""
    folder = reference(name).folder
    recorded, plain = load(folder, device="cpu"), load(folder, device="cpu")
    recorded.record_decodes(lambda step: step)
    assert recorded.unrecorded is None
    one, other = recorded.new_cache(), plain.new_cache()

    assert_same(decoded(recorded, one, IDS, 0), decoded(plain, other, IDS, 0))

    changed = IDS[:6] + OTHERS
    for cache in (one, other):
        cache.truncate(cache.reusable(7) and 6)
    start = one.length
    assert_same(decoded(recorded, one, changed, start), decoded(plain, other, changed, start))

    for model, cache in ((recorded, one), (plain, other)):
        cache.truncate(0)
        model.forward(IDS[:14], cache)
    assert_same(decoded(recorded, one, IDS, 14), decoded(plain, other, IDS, 14))


def test_what_turns_in_another_way_is_recorded_anew(
    reference: Callable[[str], Reference], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within one window and the same memory."""
    monkeypatch.setattr(caches, "BLOCK", 32)
    folder = reference("phi3, longrope").folder
    recorded, plain = load(folder, device="cpu"), load(folder, device="cpu")
    recorded.record_decodes(lambda step: step)
    one, other = recorded.new_cache(), plain.new_cache()
    for _ in range(2):  # short, then long; and back
        assert_same(decoded(recorded, one, IDS, 0), decoded(plain, other, IDS, 0))
        for cache in (one, other):
            cache.truncate(0)


@pytest.mark.parametrize("name", MIXTURES)
def test_a_mixture_of_experts_says_why_it_is_not_recorded(
    reference: Callable[[str], Reference], name: str
) -> None:
    model = load(reference(name).folder, device="cpu")
    model.record_decodes(lambda step: step)
    assert model.unrecorded == "its experts are chosen on the host"
    assert not model.forward([1], model.new_cache()).replayed


@pytest.mark.parametrize("name", [name for name in RECORDED if name in SHAPES])
def test_no_pass_waits_for_a_number(
    reference: Callable[[str], Reference], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the meta device tensors have no content: to look at one, or to mix it with one of the
    host, is an error, as it would be a wait on CUDA and a failure within a graph."""
    folder = reference(name).folder
    meta = torch.device("meta")
    monkeypatch.setattr(loading, "chosen_device", lambda _: meta)
    model = load(folder, dtype="bfloat16")
    cache = model.new_cache()
    queued: list[torch.Size] = []

    def watch(tensors: list[torch.Tensor], *_: object) -> list[np.ndarray]:
        assert all(each.device == meta for each in tensors)
        queued.extend(each.shape for each in tensors)
        return [np.empty(each.shape) for each in tensors]

    monkeypatch.setattr(model._landing, "bring", watch)
    monkeypatch.setattr(
        model._landing, "fetch", lambda parcel, *_: watch([parcel.content]) and [np.empty(1)]
    )
    monkeypatch.setattr(model, "_on_device", lambda ids: torch.tensor(ids, device=meta))
    monkeypatch.setattr(model, "chunk", 5)
    model.forward(IDS[:12], cache, top=4)  # from the start, and with masks
    model.forward(IDS[12:15], cache)
    model.forward(IDS[15:16], cache)
    model.record_decodes(lambda step: step)
    for top in (0, 3):
        assert model.forward([1], cache, top=top).replayed
    size = model.info.vocab_size
    scores = 2 * 8 + 3 * (8 + 4)  # entropy and log-sum, ids and logits of three candidates
    assert queued[-4:] == [(size,), (size,), (4 * size,), (4 * size + scores,)]
