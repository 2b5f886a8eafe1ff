"""A prefill that nobody scores computes the last layer for its last position only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.models.families.shapes import SHAPES
from tokenloop_models import load

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.models.families.reference import Reference

IDS = [5, 77, 140, 9, 9, 280, 33, 61, 298, 0, 12, 100, 210, 4, 45, 181, 77, 7, 150, 260]


@pytest.mark.parametrize("name", SHAPES)
def test_the_last_position_alone_equals_the_last_of_all(
    reference: Callable[[str], Reference], name: str
) -> None:
    """Its logits, and what later passes find in the cache; in one chunk and in several."""
    model = load(reference(name).folder, device="cpu")
    every, alone = model.new_cache(), model.new_cache()
    expected = model.forward(IDS, every, top=1).logits
    for chunk in (256, 8):
        model.chunk = chunk
        alone.truncate(0)
        np.testing.assert_allclose(model.forward(IDS, alone).logits, expected, atol=2e-4)
    then = model.forward([33, 9], every, top=1).logits
    np.testing.assert_allclose(model.forward([33, 9], alone).logits, then, atol=2e-4)
