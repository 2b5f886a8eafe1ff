"""Every family against the reference implementation, position by position, in both formats.

The tolerance is the published one of a tiny model: 0.0002 on logits of the size of real ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.models.families.converting import write_gguf
from tests.models.families.shapes import SHAPES
from tokenloop_models import load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from tests.models.families.reference import Reference
    from tokenloop_models.model import Model

TOLERANCE = 2e-4
IDS = [5, 77, 140, 9, 9, 280, 33, 61, 298, 0, 12, 100, 210, 4, 45, 181, 77, 7, 150, 260]
OTHERS = [3, 222, 77, 91, 14, 14, 199, 8]
MIDDLE = 9
FIRST_SHAPES = list({shape.model_type: name for name, shape in reversed(SHAPES.items())}.values())
"""One of each family."""


def every_logit(model: Model, ids: list[int]) -> NDArray[np.float32]:
    """Logits after each position of one prefill, put together from its scores."""
    size = model.info.vocab_size
    scores = model.forward(ids, model.new_cache(), top=size).scores
    assert scores is not None
    logits = np.empty((len(ids), size), dtype=np.float32)
    np.put_along_axis(logits, scores.top_ids, scores.top_logits, axis=1)
    return logits


def assert_near(logits: object, expected: NDArray[np.float32]) -> None:
    np.testing.assert_allclose(np.stack(logits), expected, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("name", SHAPES)
def test_every_logit_equals_the_reference_s(
    reference: Callable[[str], Reference], name: str
) -> None:
    """A prefill; decoding one by one; then a rewind to the middle, and on with another text."""
    made = reference(name)
    model = load(made.folder, device="cpu")
    expected = made.logits(IDS)
    assert np.abs(expected).max() > 1
    assert_near(every_logit(model, IDS), expected)

    cache = model.new_cache()
    assert_near([model.forward([each], cache).logits for each in IDS], expected)

    cache.truncate(MIDDLE)
    changed = made.logits(IDS[:MIDDLE] + OTHERS)[MIDDLE:]
    assert_near([model.forward([each], cache).logits for each in OTHERS], changed)

    cache.truncate(MIDDLE)
    assert_near([model.forward(OTHERS, cache).logits], changed[-1:])


@pytest.mark.parametrize("name", [name for name, shape in SHAPES.items() if shape.gguf])
def test_a_gguf_of_the_same_weights_gives_the_same_logits(
    reference: Callable[[str], Reference], name: str, tmp_path: Path
) -> None:
    made = reference(name)
    path = write_gguf(made.folder, tmp_path / "model.gguf", SHAPES[name].extra)
    assert_near(every_logit(load(path, device="cpu"), IDS), made.logits(IDS))


@pytest.mark.parametrize("name", FIRST_SHAPES)
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_lower_precision_stays_near(
    reference: Callable[[str], Reference], name: str, dtype: str
) -> None:
    """Every part runs in every dtype, and a decode agrees with a prefill."""
    made = reference(name)
    expected = made.logits(IDS)
    model = load(made.folder, device="cpu", dtype=dtype)
    near = {"bfloat16": 0.2, "float16": 0.03}[dtype] * np.abs(expected).max()
    assert np.abs(every_logit(model, IDS) - expected).max() < near
    cache = model.new_cache()
    decoded = np.stack([model.forward([each], cache).logits for each in IDS])
    assert np.abs(decoded - expected).max() < near
