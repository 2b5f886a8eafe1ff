"""A long prefill attends block by block: each family's is held to the reference across blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.models.families.shapes import SHAPES
from tests.models.families.test_parity import IDS, MIDDLE, OTHERS, assert_near, every_logit
from tokenloop_models import decoder, load
from tokenloop_models.parts import attention

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.models.families.reference import Reference


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("block", [3, 4])
def test_every_logit_equals_the_reference_s_across_blocks(
    reference: Callable[[str], Reference],
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    block: int,
) -> None:
    """From the first position on and onto others; blocks that end with the text and before it."""
    monkeypatch.setattr(attention, "BLOCK", block)
    monkeypatch.setattr(decoder, "BLOCK", block)
    made = reference(name)
    model = load(made.folder, device="cpu")
    assert_near(every_logit(model, IDS), made.logits(IDS))

    cache = model.new_cache()
    model.forward(IDS[:MIDDLE], cache)
    expected = made.logits(IDS[:MIDDLE] + OTHERS)[-1:]
    assert_near([model.forward(OTHERS, cache).logits], expected)
