"""However positions get into the cache, the logits after them are the same."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from tests.models.naive_llama import naive_logits
from tests.tiny_model import TinySpec, weights, write_folder
from tokenloop_models import load
from tokenloop_models.errors import Cancelled, ModelError
from tokenloop_models.model import Model, Probe, chunk_size
from tokenloop_models.parts import linear
from tokenloop_models.parts.linear import Linear

if TYPE_CHECKING:
    from pathlib import Path

IDS = random.Random(3).choices(range(299), k=60)
CONTEXT = TinySpec().context


@pytest.fixture
def chunked(tiny_model_folder: Path) -> Model:
    """The tiny model, prefilling seven positions at a time."""
    model = load(tiny_model_folder, device="cpu", dtype="float32")
    model.chunk = 7
    return model


def fresh(model: Model, ids: list[int]) -> np.ndarray:
    return model.forward(ids, model.new_cache()).logits


def test_logits_are_host_float32_over_the_vocabulary(tiny_model: Model) -> None:
    logits = fresh(tiny_model, IDS)
    assert isinstance(logits, np.ndarray)
    assert (logits.dtype, logits.shape) == (np.float32, (299,))


def test_prefill_equals_decode_at_every_position(tiny_model: Model) -> None:
    cache = tiny_model.new_cache()
    for count, each in enumerate(IDS, start=1):
        decoded = tiny_model.forward([each], cache).logits
        np.testing.assert_allclose(decoded, fresh(tiny_model, IDS[:count]), rtol=0, atol=1e-4)


def test_texts_take_turns_step_by_step_and_in_threads(tiny_model: Model) -> None:
    """What one text's decode leaves behind in a layer reaches no other's."""
    texts = [IDS[start : start + 12] for start in (0, 12, 24, 36)]
    expected = [fresh(tiny_model, ids) for ids in texts]
    caches = [tiny_model.new_cache() for _ in texts]
    for steps in zip(*texts, strict=True):
        found = [
            tiny_model.forward([each], cache).logits
            for each, cache in zip(steps, caches, strict=True)
        ]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)

    def stepped(ids: list[int]) -> np.ndarray:
        cache = tiny_model.new_cache()
        return [tiny_model.forward([each], cache).logits for each in ids][-1]

    with ThreadPoolExecutor(4) as pool:
        for found in (list(pool.map(stepped, texts)) for _ in range(5)):
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-4)


def test_prefill_in_chunks_equals_prefill_at_once(tiny_model: Model, chunked: Model) -> None:
    for count in (6, 7, 8, 14, 60):
        once, parts = fresh(tiny_model, IDS[:count]), fresh(chunked, IDS[:count])
        np.testing.assert_allclose(parts, once, rtol=0, atol=1e-4)


def test_prefill_onto_a_cache_equals_prefill_at_once(tiny_model: Model) -> None:
    cache = tiny_model.new_cache()
    tiny_model.forward(IDS[:21], cache)
    onto = tiny_model.forward(IDS[21:], cache).logits
    np.testing.assert_allclose(onto, fresh(tiny_model, IDS), rtol=0, atol=1e-4)


def test_rewind_then_step_equals_fresh_prefill(tiny_model: Model) -> None:
    cache = tiny_model.new_cache()
    tiny_model.forward(IDS, cache)
    for length in (59, 30, 1, 0):
        cache.truncate(length)
        other = [*IDS[:length], 11]
        stepped = tiny_model.forward([11], cache).logits
        np.testing.assert_allclose(stepped, fresh(tiny_model, other), rtol=0, atol=1e-4)
        cache.truncate(length)


def test_rewind_then_prefill_equals_fresh_prefill(tiny_model: Model) -> None:
    cache = tiny_model.new_cache()
    tiny_model.forward(IDS, cache)
    cache.truncate(20)
    again = tiny_model.forward(IDS[30:50], cache).logits
    expected = fresh(tiny_model, IDS[:20] + IDS[30:50])
    np.testing.assert_allclose(again, expected, rtol=0, atol=1e-4)


def test_two_caches_do_not_know_of_each_other(tiny_model: Model) -> None:
    one, two = tiny_model.new_cache(), tiny_model.new_cache()
    tiny_model.forward(IDS[:9], one)
    tiny_model.forward(IDS[9:20], two)
    stepped = tiny_model.forward([IDS[9]], one).logits
    np.testing.assert_allclose(stepped, fresh(tiny_model, IDS[:10]), rtol=0, atol=1e-4)


def test_the_same_pass_gives_the_same_bits(tiny_model: Model) -> None:
    np.testing.assert_array_equal(fresh(tiny_model, IDS), fresh(tiny_model, IDS))


def test_the_answer_is_not_overwritten_by_the_next_pass(tiny_model: Model) -> None:
    cache = tiny_model.new_cache()
    first = tiny_model.forward(IDS[:3], cache, top=4)
    kept = first.logits.copy()
    tiny_model.forward(IDS[3:9], cache, top=4)
    np.testing.assert_array_equal(first.logits, kept)


def test_positions_beyond_a_block_and_up_to_the_limit_are_right(tiny_model_folder: Path) -> None:
    """A text of the whole context, in pieces, against one pass over it."""
    model = load(tiny_model_folder, device="cpu", dtype="float32")
    ids = random.Random(4).choices(range(299), k=CONTEXT)
    cache = model.new_cache()
    for start in range(0, CONTEXT - 6, 50):
        model.forward(ids[start : min(start + 50, CONTEXT - 6)], cache)
    for each in ids[CONTEXT - 6 :]:
        logits = model.forward([each], cache).logits
    assert cache.length == CONTEXT
    np.testing.assert_allclose(logits, fresh(model, ids), rtol=0, atol=1e-4)


def test_full_context_refuses_before_anything_is_computed(tiny_model: Model) -> None:
    cache = tiny_model.new_cache()
    with pytest.raises(ModelError, match=r"^context full at 256 positions$"):
        tiny_model.forward([1] * (CONTEXT + 1), cache)
    assert (cache.length, cache.allocated_bytes) == (0, 0)
    tiny_model.forward([1] * CONTEXT, cache)
    with pytest.raises(ModelError, match="context full"):
        tiny_model.forward([1], cache)
    assert cache.length == CONTEXT
    cache.truncate(CONTEXT - 1)
    tiny_model.forward([1], cache)


@pytest.mark.parametrize(
    "bad",
    [299, -1, True, 1.0, "1", None, 2**70, np.float32(3), np.bool_(True)],
    ids=str,
)
def test_an_id_outside_the_vocabulary_is_refused(tiny_model: Model, bad: object) -> None:
    cache = tiny_model.new_cache()
    with pytest.raises(ModelError, match=r"at place 2: must be a whole number from 0 to 298$"):
        tiny_model.forward([1, 2, bad], cache)  # type: ignore[list-item]  # that is the point
    assert cache.length == 0


def test_whole_numbers_of_other_libraries_are_ids(tiny_model: Model) -> None:
    ids = np.array(IDS[:5])
    np.testing.assert_array_equal(fresh(tiny_model, list(ids)), fresh(tiny_model, IDS[:5]))


def test_no_ids_are_refused(tiny_model: Model) -> None:
    with pytest.raises(ModelError, match="at least one id"):
        tiny_model.forward([], tiny_model.new_cache())


def test_progress_is_told_after_each_chunk(chunked: Model) -> None:
    told: list[tuple[int, int]] = []
    chunked.forward(IDS[:20], chunked.new_cache(), progress=lambda *each: told.append(each))
    assert told == [(7, 20), (14, 20), (20, 20)]


@pytest.mark.parametrize("layers", range(TinySpec().layers + 1))
def test_a_cancelled_prefill_leaves_the_completed_chunks(
    chunked: Model, tiny_model: Model, layers: int
) -> None:
    """Whether it is stopped between two chunks or within one, after some of its layers."""
    cache = chunked.new_cache()
    chunked.forward(IDS[:3], cache)
    looks = iter([False] * (2 * (TinySpec().layers + 1) + layers) + [True])
    with pytest.raises(Cancelled, match="stopped after 14 of 37 positions"):
        chunked.forward(IDS[3:40], cache, top=3, cancelled=lambda: next(looks))
    assert cache.length == 3 + 14
    stepped = chunked.forward([IDS[17]], cache).logits
    np.testing.assert_allclose(stepped, fresh(tiny_model, IDS[:18]), rtol=0, atol=1e-4)


def test_a_decode_asks_once_whether_to_go_on(tiny_model: Model) -> None:
    looks = iter([False])
    cache = tiny_model.new_cache()
    tiny_model.forward(IDS[:1], cache, cancelled=lambda: next(looks))
    assert cache.length == 1


def test_an_error_in_a_callback_leaves_the_completed_chunks(chunked: Model) -> None:
    def fail(done: int, total: int) -> None:
        raise RuntimeError("screen gone")

    cache = chunked.new_cache()
    with pytest.raises(RuntimeError, match="screen gone"):
        chunked.forward(IDS[:20], cache, progress=fail)
    assert cache.length == 7


@pytest.mark.parametrize("where", ["torch.linalg.vector_norm", "torch.Tensor.amax"])
def test_too_little_memory_leaves_the_completed_chunks(
    chunked: Model, tiny_model: Model, monkeypatch: pytest.MonkeyPatch, where: str
) -> None:
    """Whether it runs out in the layers or, when they are done, in the scores."""
    cache = chunked.new_cache()

    def none_left(*_: object, **__: object) -> torch.Tensor:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    def run_out_after_two_chunks(done: int, total: int) -> None:
        if done == 14:
            monkeypatch.setattr(where, none_left)

    with pytest.raises(ModelError, match=r"^not enough memory for a pass over 7 positions$"):
        chunked.forward(IDS[:40], cache, top=3, progress=run_out_after_two_chunks)
    monkeypatch.undo()
    assert cache.length == 14
    stepped = chunked.forward([IDS[14]], cache).logits
    np.testing.assert_allclose(stepped, fresh(tiny_model, IDS[:15]), rtol=0, atol=1e-4)


def test_nan_weights_give_nan_logits_and_no_fault(tmp_path: Path) -> None:
    tensors = weights(TinySpec())
    tensors["model.norm.weight"][3] = float("nan")
    model = load(write_folder(TinySpec(), tmp_path / "nan", tensors=tensors), device="cpu")
    out = model.forward(IDS[:4], model.new_cache(), top=5)
    assert np.isnan(out.logits).all()
    assert out.scores is not None
    assert np.isnan(out.scores.entropy_bits).all()


def test_timings_are_parts_of_the_total(tiny_model: Model) -> None:
    timings = tiny_model.forward(IDS, tiny_model.new_cache(), top=3).timings
    parts = (timings.layers_ms, timings.head_ms, timings.copy_ms)
    assert all(part > 0 for part in parts)
    assert sum(parts) <= timings.total_ms
    assert timings.layer_ms == ()


@pytest.mark.parametrize("count", [1, 20])
def test_a_probe_gives_each_layer_s_time(chunked: Model, count: int) -> None:
    timings = chunked.forward(IDS[:count], chunked.new_cache(), probe=Probe()).timings
    assert len(timings.layer_ms) == TinySpec().layers
    assert all(part > 0 for part in timings.layer_ms)
    assert sum(timings.layer_ms) <= timings.layers_ms
    unwatched = chunked.forward([1], chunked.new_cache(), probe=Probe(layer_times=False)).timings
    assert unwatched.layer_ms == ()


def test_watching_does_not_change_the_logits(tiny_model: Model) -> None:
    watched = tiny_model.forward(IDS, tiny_model.new_cache(), probe=Probe(), top=5).logits
    np.testing.assert_allclose(watched, fresh(tiny_model, IDS), rtol=0, atol=1e-5)


def test_larger_models_prefill_in_smaller_chunks() -> None:
    sizes = [chunk_size(parameters) for parameters in (1, 135_000_000, 362_000_000, 1_100_000_000)]
    assert sizes == [512, 512, 256, 128]
    assert chunk_size(10**12) == 128


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_lower_precision_stays_near(tiny_model_folder: Path, dtype: str) -> None:
    model = load(tiny_model_folder, device="cpu", dtype=dtype)
    cache = model.new_cache()
    for each in IDS[:10]:
        decoded = model.forward([each], cache).logits
    assert (model.info.dtype, cache.dtype) == (dtype, dtype)
    assert cache.bytes_per_position == 3 * 2 * 8 * 2 * 2
    assert decoded.dtype == np.float32
    expected = naive_logits(TinySpec(), IDS[:10]).numpy()[-1]
    near = {"bfloat16": 0.5, "float16": 0.1}[dtype]
    assert np.abs(decoded - expected).max() < near * np.abs(expected).max()
    np.testing.assert_allclose(decoded, fresh(model, IDS[:10]), atol=near * 2)


@pytest.mark.parametrize("rows", [1, 2, 3, 16, 17, 64])
@pytest.mark.parametrize("outputs", [64, 30])
@pytest.mark.parametrize("biased", [False, True])
def test_a_product_is_the_same_however_many_rows(rows: int, outputs: int, biased: bool) -> None:
    """Slices, plain calls and oneDNN's: against float64, and ready to be viewed as heads."""
    generator = torch.Generator().manual_seed(rows)
    weight = torch.randn(outputs, 48, generator=generator)
    bias = torch.randn(outputs, generator=generator) if biased else None
    x = torch.randn(rows, 48, generator=generator)
    product = Linear(weight, bias)(x)
    expected = x.double() @ weight.double().t() + (0 if bias is None else bias.double())
    torch.testing.assert_close(product.double(), expected, rtol=0, atol=2e-5)
    assert product.is_contiguous()
    if rows == 1:
        out = torch.full((1, outputs), torch.nan)
        assert Linear(weight, bias)(x, out=out) is out
        assert torch.equal(out, product)


def test_a_torch_without_onednn_takes_plain_products(monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(linear.torch.ops.mkldnn, "_linear_pointwise", gone)
    assert linear._many_rows() is torch.nn.functional.linear
