"""The KV cache says what it holds, what that takes, and how far it goes back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
import torch

from tests.tiny_model import TinySpec, write_folder
from tokenloop_models import load
from tokenloop_models.cache import BLOCK, KVCache
from tokenloop_models.errors import ModelError

if TYPE_CHECKING:
    from pathlib import Path

    from tokenloop_models.model import Model

PER_POSITION = 3 * 2 * 8 * 2 * 4  # layers, key/value heads, head dim, K and V, float32


def a_cache(limit: int = 5000, long_from: int = 10_000) -> KVCache:
    return KVCache(
        layers=3,
        kv_heads=2,
        head_dim=8,
        limit=limit,
        dtype=torch.float32,
        device=torch.device("cpu"),
        regimes=lambda length: (int(length >= long_from),),
    )


def fill(cache: KVCache, count: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Append positions whose keys hold their position and values its negative."""
    cache.reserve(count)
    positions = torch.arange(cache.length, cache.length + count, dtype=torch.float32)
    new = torch.stack([positions, -positions])[:, None, :, None].expand(-1, 2, -1, 8)
    views = [cache.write(layer, new) for layer in range(3)]
    cache.advance(count)
    return views


def test_keys_of_shorter_texts_are_of_no_use_to_longer_ones() -> None:
    cache = a_cache(long_from=2001)
    assert cache.reusable(5000) == 0
    fill(cache, 1990)
    assert (cache.reusable(1991), cache.reusable(2000), cache.reusable(2001)) == (1990, 1990, 0)
    with pytest.raises(ModelError, match=r"^the cache's keys are not those of a text of 2,010 "):
        cache.reserve(20)
    assert cache.length == 1990
    cache.truncate(0)
    fill(cache, 2010)
    assert (cache.reusable(2011), cache.reusable(2000)) == (2010, 0)


def test_bytes_follow_from_positions(tiny_model: Model) -> None:
    cache = tiny_model.new_cache()
    assert (cache.length, cache.nbytes, cache.allocated_bytes) == (0, 0, 0)
    tiny_model.forward([1, 2, 3, 4, 5], cache)
    assert cache.dtype == "float32"
    assert cache.bytes_per_position == PER_POSITION
    assert (cache.length, cache.nbytes) == (5, 5 * PER_POSITION)
    assert cache.allocated_bytes == BLOCK * PER_POSITION


def test_it_grows_in_blocks_that_double_up_to_the_limit() -> None:
    cache = a_cache(limit=5000)
    capacities = set()
    while cache.length < 5000:
        fill(cache, min(97, 5000 - cache.length))
        assert cache.allocated_bytes >= cache.nbytes
        capacities.add(cache.allocated_bytes // PER_POSITION)
    assert sorted(capacities) == [256, 512, 1024, 2048, 4096, 5000]


def test_a_large_prefill_takes_only_the_blocks_that_it_needs() -> None:
    cache = a_cache()
    cache.reserve(1000)
    assert cache.allocated_bytes == 1024 * PER_POSITION


def test_what_was_held_survives_growth_across_block_borders() -> None:
    cache = a_cache()
    for count in (255, 1, 1, 300, 2, 600):
        views = fill(cache, count)
    expected = torch.arange(cache.length, dtype=torch.float32)
    for keys, values in views:
        assert keys.shape == (2, cache.length, 8)
        assert torch.equal(keys[1, :, 7], expected)
        assert torch.equal(values[0, :, 0], -expected)


def test_truncate_goes_anywhere_back_and_keeps_memory() -> None:
    cache = a_cache()
    fill(cache, 300)
    assert cache.can_rewind_to(300)
    assert cache.can_rewind_to(0)
    cache.truncate(10)
    assert (cache.length, cache.nbytes) == (10, 10 * PER_POSITION)
    assert cache.allocated_bytes == 512 * PER_POSITION
    assert not cache.can_rewind_to(11)
    cache.truncate(0)
    assert cache.length == 0


@pytest.mark.parametrize("length", [-1, 6])
def test_truncate_refuses_what_it_does_not_hold(length: int) -> None:
    cache = a_cache()
    fill(cache, 5)
    assert not cache.can_rewind_to(length)
    with pytest.raises(ValueError, match="5 positions"):
        cache.truncate(length)
    assert cache.length == 5


def test_the_limit_refuses_and_leaves_it_usable() -> None:
    cache = a_cache(limit=8)
    fill(cache, 8)
    with pytest.raises(ModelError, match=r"^context full at 8 positions$"):
        cache.reserve(1)
    cache.truncate(7)
    fill(cache, 1)
    assert cache.length == 8


def test_too_little_memory_is_one_clean_line_and_changes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cache = a_cache()
    fill(cache, 200)

    def none_left(*_: object, **__: object) -> torch.Tensor:
        raise RuntimeError("DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(torch.Tensor, "new_zeros", none_left)
    problem = r"^not enough memory for a KV cache of 512 positions \(192 KiB\)$"
    with pytest.raises(ModelError, match=problem):
        cache.reserve(100)
    monkeypatch.undo()
    assert (cache.length, cache.allocated_bytes) == (200, 256 * PER_POSITION)
    assert torch.equal(fill(cache, 1)[0][0][0, :, 0], torch.arange(201.0))


def test_what_lies_beyond_the_length_never_reaches_a_logit(tmp_path: Path) -> None:
    """Garbage in the memory that is reserved, or was given up by a rewind, stays there."""
    model = load(write_folder(TinySpec(), tmp_path / "m"), device="cpu", dtype="float32")
    clean, dirty = model.new_cache(), model.new_cache()
    for cache in (clean, dirty):
        model.forward([1, 2, 3, 4, 5, 6], cache)
        cache.truncate(3)
    with torch.inference_mode():
        for layer in dirty.window(dirty.capacity):
            layer[:, :, 3:] = float("nan")
    for ids in ([7], [8, 9, 10], [11]):
        expected = model.forward(ids, clean).logits
        np.testing.assert_array_equal(model.forward(ids, dirty).logits, expected)
