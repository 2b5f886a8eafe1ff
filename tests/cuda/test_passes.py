"""Passes on a CUDA device: a CPU's numbers, and no wait but the one for the result."""

from __future__ import annotations

import random
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from tokenloop_models import load
from tokenloop_models.errors import Cancelled, ModelError
from tokenloop_models.model import Probe

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tokenloop_models.cache import KVCache
    from tokenloop_models.model import Model, Output

IDS = random.Random(9).choices(range(299), k=100)
NEAR = 1e-3  # logits are of the size of 16


def fresh(model: Model, ids: list[int]) -> np.ndarray:
    return model.forward(ids, model.new_cache()).logits


def replayed(model: Model, token: int, cache: KVCache, **more: int) -> Output:
    output = model.forward([token], cache, **more)
    assert output.replayed, model.unrecorded
    return output


def assert_near(logits: np.ndarray, expected: np.ndarray, near: float = NEAR) -> None:
    np.testing.assert_allclose(logits, expected, rtol=0, atol=near)


def test_it_says_where_it_runs(model: Model) -> None:
    assert (model.info.device, model.info.dtype) == ("cuda:0", "float32")
    assert model.unrecorded is None


def test_every_position_equals_the_cpu_s(model: Model, on_cpu: Model) -> None:
    cache, other = model.new_cache(), on_cpu.new_cache()
    for token in IDS:
        assert_near(replayed(model, token, cache).logits, on_cpu.forward([token], other).logits)
    with pytest.raises(ModelError, match="context full"):
        model.forward([1], cache)


def test_a_prefill_equals_the_cpu_s(model: Model, on_cpu: Model) -> None:
    """At once, in chunks that need masks, and onto what decodes left."""
    assert_near(fresh(model, IDS), fresh(on_cpu, IDS))
    model.chunk = 7
    assert_near(fresh(model, IDS), fresh(on_cpu, IDS))
    cache = model.new_cache()
    for token in IDS[:20]:
        replayed(model, token, cache)
    assert_near(model.forward(IDS[20:41], cache).logits, fresh(on_cpu, IDS[:41]))
    assert_near(replayed(model, IDS[41], cache).logits, fresh(on_cpu, IDS[:42]))


@pytest.mark.parametrize(("dtype", "near"), [("bfloat16", 0.3), ("float16", 0.03)])
def test_lower_precision_stays_near_float32(
    folder: Path, on_cpu: Model, dtype: str, near: float
) -> None:
    """Relative to the largest logit: three times what a CPU in that dtype is off by."""
    model = load(folder, device="cuda", dtype=dtype)
    cache, other = model.new_cache(), on_cpu.new_cache()
    for index, token in enumerate(IDS[:40]):
        logits = replayed(model, token, cache).logits
        assert logits.dtype == np.float32
        expected = on_cpu.forward([token], other).logits
        largest = float(np.abs(expected).max())
        assert_near(logits, expected, near * largest)
        assert np.abs(logits - expected).mean() < near / 5 * largest
        assert_near(fresh(model, IDS[: index + 1]), expected, near * largest)


@pytest.mark.parametrize(("dtype", "near"), [("float32", 5e-4), ("bfloat16", 1.0)])
def test_with_and_without_graphs_it_is_the_same(folder: Path, dtype: str, near: float) -> None:
    graphs, eager = (load(folder, device="cuda", dtype=dtype) for _ in range(2))
    eager.record_decodes(None)
    one, other = graphs.new_cache(), eager.new_cache()
    for token in IDS:
        plain = eager.forward([token], other)
        assert not plain.replayed
        assert_near(replayed(graphs, token, one).logits, plain.logits, near)


@pytest.mark.parametrize("length", [0, 1, 15, 16, 17, 40])
def test_rewind_then_step_equals_fresh_prefill(model: Model, on_cpu: Model, length: int) -> None:
    cache = model.new_cache()
    for token in IDS[:60]:
        replayed(model, token, cache)
    cache.truncate(length)
    ids = IDS[:length]
    for token in IDS[70:74]:
        ids.append(token)
        assert_near(replayed(model, token, cache).logits, fresh(on_cpu, ids))


def test_what_a_rewind_left_behind_stays_unseen(model: Model, on_cpu: Model) -> None:
    cache = model.new_cache()
    model.forward(IDS[:30], cache)
    with torch.inference_mode():
        for layer in cache._layers:
            layer[:, :, 9:30] = float("nan")
    cache.truncate(9)
    assert_near(replayed(model, 5, cache).logits, fresh(on_cpu, [*IDS[:9], 5]))


def test_the_same_step_gives_the_same_bits(model: Model) -> None:
    cache = model.new_cache()
    model.forward(IDS[:12], cache)
    first = replayed(model, 3, cache).logits
    model.forward(IDS[:60], cache)
    for _ in range(3):
        cache.truncate(12)
        np.testing.assert_array_equal(replayed(model, 3, cache).logits, first)


def test_two_caches_do_not_know_of_each_other(model: Model, on_cpu: Model) -> None:
    one, two = model.new_cache(), model.new_cache()
    for index in range(24):
        step_one = replayed(model, IDS[index], one).logits
        step_two = replayed(model, IDS[40 + index], two).logits
        assert_near(step_one, fresh(on_cpu, IDS[: index + 1]))
        assert_near(step_two, fresh(on_cpu, IDS[40 : 41 + index]))


def test_scores_equal_the_cpu_s(model: Model, on_cpu: Model) -> None:
    cache, other = model.new_cache(), on_cpu.new_cache()
    for ids in (IDS[:20], IDS[20:21], IDS[21:22]):
        found = model.forward(ids, cache, top=7).scores
        expected = on_cpu.forward(ids, other, top=7).scores
        assert found is not None
        assert expected is not None
        for name in ("entropy_bits", "log_sum_exp", "top_logits", "next_logit"):
            assert_near(getattr(found, name), getattr(expected, name))
        assert found.top_ids.shape == expected.top_ids.shape
        assert (found.top_ids == expected.top_ids).mean() > 0.9  # near-ties may change places
        assert found.next_rank.dtype == expected.next_rank.dtype


@contextmanager
def no_waiting() -> Iterator[None]:
    """Whatever makes the host wait for the device fails, but for waiting for an event."""
    torch.cuda.set_sync_debug_mode("error")
    try:
        yield
    finally:
        torch.cuda.set_sync_debug_mode("default")


def test_no_decode_waits_but_for_its_result(model: Model) -> None:
    """Also after a rewind, and where candidates are asked for."""
    cache = model.new_cache()
    for top in (0, 5):
        replayed(model, 1, cache, top=top)  # recording waits
    with no_waiting():
        for token in IDS[:10]:
            replayed(model, token, cache)
        cache.truncate(4)
        for token in IDS[:8]:
            replayed(model, token, cache, top=5)


def test_no_pass_without_a_graph_waits_but_for_its_result(model: Model) -> None:
    model.record_decodes(None)
    model.chunk = 9
    model.forward(IDS, model.new_cache(), top=5)  # makes the rotary table, which waits
    cache = model.new_cache()
    with no_waiting():
        model.forward(IDS[:40], cache, top=5)
        model.forward(IDS[40:60], cache)
        model.forward(IDS[60:61], cache, probe=Probe())


def test_timings_are_measured_parts_of_the_total(model: Model) -> None:
    cache = model.new_cache()
    first = replayed(model, 1, cache).timings
    second = replayed(model, 2, cache).timings
    assert first.recording_ms > second.recording_ms == 0
    prefill = model.forward(IDS[:30], cache, top=3).timings
    watched = model.forward([1], cache, probe=Probe()).timings
    for timings in (first, second, prefill, watched):
        parts = (timings.layers_ms, timings.head_ms, timings.copy_ms)
        assert all(part > 0 for part in parts)
        assert sum(parts) <= timings.total_ms
    assert len(watched.layer_ms) == 3
    assert all(part > 0 for part in watched.layer_ms)


def test_a_cancelled_prefill_leaves_the_completed_chunks(model: Model, on_cpu: Model) -> None:
    model.chunk = 7
    cache = model.new_cache()
    looks = iter([False] * 2 * (model.info.layers + 1) + [True])
    with pytest.raises(Cancelled):
        model.forward(IDS[:40], cache, cancelled=lambda: next(looks))
    assert cache.length == 14
    assert_near(replayed(model, IDS[14], cache).logits, fresh(on_cpu, IDS[:15]))


def test_steps_take_no_more_and_more_memory(model: Model) -> None:
    cache = model.new_cache()
    replayed(model, 1, cache)
    before = torch.cuda.memory_allocated()
    for token in IDS[:14]:
        replayed(model, token, cache)
    assert torch.cuda.memory_allocated() == before


def test_where_a_capture_fails_decodes_go_on_and_say_why(
    model: Model, on_cpu: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step that looks at a number waits, which a capture does not permit."""
    head = model._decoder.head

    def looking(hidden: torch.Tensor) -> torch.Tensor:
        float(hidden[0, 0])
        return head(hidden)

    monkeypatch.setattr(model._decoder, "head", looking)
    cache = model.new_cache()
    with pytest.warns(UserWarning, match="decodes run without a CUDA graph"):
        output = model.forward([IDS[0]], cache)
    assert not output.replayed
    assert model.unrecorded is not None
    assert model.unrecorded.startswith("recording failed: ")
    assert_near(output.logits, fresh(on_cpu, IDS[:1]))
    monkeypatch.undo()
    assert_near(model.forward([IDS[1]], cache).logits, fresh(on_cpu, IDS[:2]))


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="needs a second CUDA device")
def test_a_second_device_does_the_same(folder: Path, on_cpu: Model) -> None:
    model = load(folder, device="cuda:1", dtype="float32")
    cache = model.new_cache()
    model.forward(IDS[:20], cache, top=3)
    for index in range(20, 40):
        logits = replayed(model, IDS[index], cache).logits
    assert_near(logits, fresh(on_cpu, IDS[:40]))
