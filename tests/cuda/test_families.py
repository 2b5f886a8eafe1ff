"""Every family on a CUDA device equals itself on the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.models.families.shapes import SHAPES
from tokenloop_models import load

if TYPE_CHECKING:
    import torch

IDS = [5, 77, 140, 9, 9, 280, 33, 61, 298, 0, 12, 100, 210, 4, 45, 181, 77, 7, 150, 260]


@pytest.mark.parametrize("name", SHAPES)
def test_prefill_decode_and_rewind_equal_the_cpu_s(
    device: torch.device, tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    pytest.importorskip("transformers")
    from tests.models.families.reference import make

    folder = make(SHAPES[name], tmp_path_factory.mktemp("family") / "model").folder
    there = load(folder, device=str(device), dtype="float32")
    here = load(folder, device="cpu", dtype="float32")
    one, other = there.new_cache(), here.new_cache()
    mixture = there.unrecorded is not None
    assert mixture == name.startswith(("mixtral", "qwen3_moe", "olmoe"))
    assert len(there.info.notices) == mixture

    def assert_same(ids: list[int]) -> None:
        found, expected = there.forward(ids, one), here.forward(ids, other)
        assert found.replayed == (len(ids) == 1 and not mixture)
        near = 1e-3 + 1e-4 * float(np.abs(expected.logits).max())
        np.testing.assert_allclose(found.logits, expected.logits, rtol=0, atol=near)

    for token in IDS:
        assert_same([token])
    for cache in (one, other):
        cache.truncate(6)
    assert_same(IDS[10:18])
    for token in IDS[:4]:
        assert_same([token])
