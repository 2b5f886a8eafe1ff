"""Recorded decodes: when one is replayed, when it is recorded anew, and that it is the same decode.

The recorder here records nothing: what it "replays" is the step itself, on the CPU. What a CUDA
device adds is in ``tests/cuda``.
"""

from __future__ import annotations

import gc
import random
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from tests.tiny_model import TinySpec, write_folder
from tokenloop_models import cache as caches
from tokenloop_models import load
from tokenloop_models.errors import Cancelled, ModelError
from tokenloop_models.model import Model, Probe
from tokenloop_models.recorded import HEADS_KEPT, window_for
from tokenloop_models.static_step import HeadStep

if TYPE_CHECKING:
    from pathlib import Path

    from tokenloop_models.cache import KVCache
    from tokenloop_models.recorded import Replay

IDS = random.Random(5).choices(range(299), k=90)
BLOCK = 8
CONTEXT = 60  # no whole number of windows


class Recordings:
    """Counts what is recorded, and what is replayed."""

    def __init__(self) -> None:
        self.recorded: Counter[str] = Counter()
        self.replayed: Counter[str] = Counter()

    def __call__(self, step: Replay) -> Replay:
        kind = "head" if isinstance(step, HeadStep) else "layers"
        self.recorded[kind] += 1
        step()  # a recorder may

        def replay() -> None:
            self.replayed[kind] += 1
            step()

        return replay


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows and caches grow within texts that are short."""
    monkeypatch.setattr(caches, "BLOCK", BLOCK)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(TinySpec(context=CONTEXT), tmp_path_factory.mktemp("recorded") / "model")


@pytest.fixture(scope="module")
def plain(folder: Path) -> Model:
    return load(folder, device="cpu")


@pytest.fixture
def recordings() -> Recordings:
    return Recordings()


@pytest.fixture
def model(folder: Path, recordings: Recordings) -> Model:
    """The same model with recorded decodes."""
    model = load(folder, device="cpu")
    model.record_decodes(recordings)
    assert model.unrecorded is None
    return model


def step(model: Model, cache: KVCache, token: int, **more: int) -> np.ndarray:
    output = model.forward([token], cache, **more)
    assert output.replayed
    return output.logits


def assert_near(logits: np.ndarray, expected: np.ndarray, *, near: float = 1e-4) -> None:
    """To what a prefill and a decode differ by; two decodes differ less."""
    np.testing.assert_allclose(logits, expected, rtol=0, atol=near)


def fresh(plain: Model, ids: list[int]) -> np.ndarray:
    return plain.forward(ids, plain.new_cache()).logits


def test_windows_are_blocks_and_then_four_to_a_doubling(monkeypatch: pytest.MonkeyPatch) -> None:
    windows = [window_for(each, CONTEXT) for each in (1, 8, 9, 16, 17, 32, 33, 57, 60)]
    assert windows == [8, 8, 16, 16, 24, 32, 40, 60, 60]
    monkeypatch.setattr(caches, "BLOCK", 256)
    lengths = range(1, 8193)
    windows = [window_for(each, 8192) for each in lengths]
    assert sorted(set(windows))[:5] == [256, 512, 768, 1024, 1280]
    assert len(set(windows)) == 16
    for length, window in zip(lengths, windows, strict=True):
        assert length <= window <= max(1.25 * length, length + 255)


def test_every_position_up_to_the_context_equals_a_plain_decode(
    model: Model, plain: Model, recordings: Recordings
) -> None:
    """Across all borders of windows and blocks, and at the limit."""
    cache, other = model.new_cache(), plain.new_cache()
    for token in IDS[:CONTEXT]:
        expected = plain.forward([token], other).logits
        near = max(1e-5, 2e-6 * float(np.abs(expected).max()))
        assert_near(step(model, cache, token), expected, near=near)
    assert recordings.recorded == {"layers": 8, "head": 1}
    assert recordings.replayed == {"layers": CONTEXT, "head": CONTEXT}
    with pytest.raises(ModelError, match=r"^context full at 60 positions$"):
        model.forward([1], cache)
    cache.truncate(CONTEXT - 1)
    assert_near(step(model, cache, 7), fresh(plain, [*IDS[: CONTEXT - 1], 7]))


@pytest.mark.parametrize("length", [0, 1, 6, 7, 8, 15, 16, 17, 33])
def test_a_rewind_shows_nothing_of_what_was_dropped(
    model: Model, plain: Model, length: int
) -> None:
    cache = model.new_cache()
    for token in IDS[:40]:
        step(model, cache, token)
    cache.truncate(length)
    ids = IDS[:length]
    for token in IDS[60:64]:
        ids.append(token)
        assert_near(step(model, cache, token), fresh(plain, ids))


def test_a_rewind_and_the_same_ids_give_the_same_bits(model: Model) -> None:
    """However large the cache has become meanwhile."""
    cache = model.new_cache()
    model.forward(IDS[:5], cache)
    before = [step(model, cache, token) for token in IDS[5:8]]
    model.forward(IDS[8:50], cache)
    cache.truncate(5)
    for token, expected in zip(IDS[5:8], before, strict=True):
        np.testing.assert_array_equal(step(model, cache, token), expected)


def test_a_rewind_records_nothing_anew(model: Model, recordings: Recordings) -> None:
    cache = model.new_cache()
    for length in (0, 0):
        cache.truncate(length)
        model.forward(IDS[:40], cache)
        for shorter in (40, 30, 12, 3):
            cache.truncate(shorter)
            step(model, cache, 1)
        # one for each of the windows 48, 32, 16 and 8, whatever order they come in
        assert recordings.recorded == {"layers": 4, "head": 1}


def test_heads_may_come_out_in_another_order_of_memory(
    model: Model, plain: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As they do of CUDA's kernels: (heads, dim) within each position."""
    kernel = torch.nn.functional.scaled_dot_product_attention

    def by_position(*inputs: torch.Tensor, **how: object) -> torch.Tensor:
        return kernel(*inputs, **how).transpose(1, 2).contiguous().transpose(1, 2)

    monkeypatch.setattr(torch.nn.functional, "scaled_dot_product_attention", by_position)
    cache = model.new_cache()
    for count, token in enumerate(IDS[:9], start=1):
        assert_near(step(model, cache, token), fresh(plain, IDS[:count]))


def test_infinities_that_a_rewind_left_behind_stay_there(model: Model, plain: Model) -> None:
    """A masked position has the weight 0, and 0 · ∞ is no number."""
    cache = model.new_cache()
    model.forward(IDS[:20], cache)
    step(model, cache, IDS[20])
    with torch.inference_mode():
        for layer in cache.window(cache.capacity):
            layer[:, :, 9:21] = float("inf")
    cache.truncate(9)
    ids = IDS[:9]
    for token in IDS[30:36]:
        ids.append(token)
        assert_near(step(model, cache, token), fresh(plain, ids))


def test_what_a_failed_prefill_wrote_stays_unseen(
    model: Model, plain: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = model.new_cache()
    model.forward(IDS[:3], cache)

    def none_left(*_: object, **__: object) -> torch.Tensor:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    with monkeypatch.context() as patched:
        patched.setattr(model._decoder.head, "_product", none_left)
        with pytest.raises(ModelError, match="not enough memory"):
            model.forward(IDS[3:8], cache)
    with torch.inference_mode():
        for layer in cache.window(cache.capacity):
            layer[:, :, 3:8] = float("nan")
    assert cache.length == 3
    assert_near(step(model, cache, 9), fresh(plain, [*IDS[:3], 9]))


def test_prefills_and_decodes_may_alternate(model: Model, plain: Model) -> None:
    cache = model.new_cache()
    for start in range(0, 56, 7):
        model.forward(IDS[start : start + 6], cache)
        assert_near(step(model, cache, IDS[start + 6]), fresh(plain, IDS[: start + 7]))


def test_two_caches_keep_their_recordings(
    model: Model, plain: Model, recordings: Recordings
) -> None:
    one, two = model.new_cache(), model.new_cache()
    for index in range(5):
        assert_near(step(model, one, IDS[index]), fresh(plain, IDS[: index + 1]))
        assert_near(step(model, two, IDS[20 + index]), fresh(plain, IDS[20 : 21 + index]))
    assert recordings.recorded == {"layers": 2, "head": 1}


def test_a_cache_takes_its_recordings_with_it(model: Model) -> None:
    assert model._recorded is not None
    cache = model.new_cache()
    step(model, cache, 1)
    assert len(model._recorded._of_caches) == 1
    del cache
    gc.collect()
    assert len(model._recorded._of_caches) == 0


def test_a_cache_that_grew_is_recorded_anew(
    model: Model, plain: Model, recordings: Recordings
) -> None:
    cache = model.new_cache()
    step(model, cache, IDS[0])
    cache.widen(32)  # its memory lies elsewhere now
    assert_near(step(model, cache, IDS[1]), fresh(plain, IDS[:2]))
    assert recordings.recorded["layers"] == 2


def test_scores_are_those_of_a_plain_decode(
    model: Model, plain: Model, recordings: Recordings
) -> None:
    cache, other = model.new_cache(), plain.new_cache()
    for token, top in zip(IDS[:6], (5, 5, 0, 40, 999, 1), strict=True):
        scores = model.forward([token], cache, top=top).scores
        expected = plain.forward([token], other, top=top).scores
        if expected is None:
            assert scores is None
            continue
        assert scores is not None
        np.testing.assert_array_equal(scores.top_ids, expected.top_ids)
        for name in ("entropy_bits", "log_sum_exp", "top_logits", "next_logit", "next_rank"):
            found, wanted = getattr(scores, name), getattr(expected, name)
            assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-5)
    assert recordings.recorded["head"] == 5
    for _ in range(2):
        step(model, cache, 1, top=999)
    assert recordings.recorded["head"] == 5
    assert model._recorded is not None
    assert len(model._recorded._heads) == HEADS_KEPT


def test_the_answer_is_not_overwritten_by_the_next_step(model: Model) -> None:
    cache = model.new_cache()
    first = model.forward([1], cache, top=3)
    assert first.scores is not None
    kept = first.logits.copy(), first.scores.top_logits.copy()
    model.forward([2], cache, top=3)
    np.testing.assert_array_equal(first.logits, kept[0])
    np.testing.assert_array_equal(first.scores.top_logits, kept[1])


def test_a_pass_watched_layer_by_layer_is_not_replayed(model: Model) -> None:
    cache = model.new_cache()
    output = model.forward([1], cache, probe=Probe())
    assert not output.replayed
    assert len(output.timings.layer_ms) == TinySpec().layers
    assert model.forward([1], cache, probe=Probe(layer_times=False)).replayed


def test_recording_is_told_apart_from_the_layers_time(model: Model) -> None:
    cache = model.new_cache()
    first, second = (model.forward([1], cache).timings for _ in range(2))
    assert first.recording_ms > 0
    assert second.recording_ms == 0
    for timings in (first, second):
        parts = (timings.layers_ms, timings.head_ms, timings.copy_ms)
        assert all(part > 0 for part in parts)
        assert sum(parts) + timings.recording_ms <= timings.total_ms


def test_a_single_position_can_be_cancelled_and_tells_its_progress(model: Model) -> None:
    cache = model.new_cache()
    with pytest.raises(Cancelled):
        model.forward([1], cache, cancelled=lambda: True)
    assert cache.length == 0
    told: list[tuple[int, int]] = []
    model.forward([1], cache, progress=lambda *each: told.append(each), cancelled=lambda: False)
    assert told == [(1, 1)]


def test_where_recording_fails_decodes_go_on_and_say_why(folder: Path, plain: Model) -> None:
    def fail(_: Replay) -> Replay:
        raise RuntimeError("capture is not permitted\nsecond line")

    model = load(folder, device="cpu")
    model.record_decodes(fail)
    cache = model.new_cache()
    with pytest.warns(
        UserWarning, match=r"decodes run without a CUDA graph, slower: recording failed: "
    ):
        output = model.forward([IDS[0]], cache)
    assert not output.replayed
    assert model.unrecorded == "recording failed: 'capture is not permitted'"
    assert model.info.notices == (f"decodes run without a CUDA graph, slower: {model.unrecorded}",)
    assert_near(output.logits, fresh(plain, IDS[:1]))
    assert_near(model.forward([IDS[1]], cache).logits, fresh(plain, IDS[:2]))
    assert cache.length == 2


def test_recording_can_be_switched_off(model: Model) -> None:
    model.record_decodes(None)
    assert model.unrecorded == "recording is switched off"
    assert not model.forward([1], model.new_cache()).replayed


def test_a_cpu_records_nothing_by_itself(plain: Model) -> None:
    assert plain.unrecorded is not None
    assert not plain.forward([1], plain.new_cache()).replayed


def test_too_little_memory_for_the_window_leaves_the_cache_usable(
    model: Model, plain: Model, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(caches, "BLOCK", 2)
    cache = model.new_cache()
    model.forward(IDS[:17], cache)  # memory for 18 positions, where the window is 20

    def none_left(*_: object, **__: object) -> torch.Tensor:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    with monkeypatch.context() as patched:
        patched.setattr(torch.Tensor, "new_zeros", none_left)
        with pytest.raises(ModelError, match=r"^not enough memory for a KV cache of 36 positions"):
            model.forward([1], cache)
    assert (cache.length, cache.capacity) == (17, 18)
    assert_near(step(model, cache, 3), fresh(plain, [*IDS[:17], 3]))
    assert cache.capacity == 36
