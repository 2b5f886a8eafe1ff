"""Ways of scaling that turn the keys of long texts in another way than those of short ones.

The reference chooses by the text it is given, so that a pass over a whole text is what counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest

from tests.models.families.converting import write_gguf
from tests.models.families.shapes import LONG_TEXTS
from tests.models.families.test_parity import IDS, assert_near, every_logit
from tokenloop.session.passes import CachedPasses
from tokenloop_models import ModelError, load

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.models.families.reference import Reference

ORIGINAL = 16


@pytest.mark.parametrize("name", LONG_TEXTS)
def test_short_and_long_prefills_equal_the_reference_s(
    reference: Callable[[str], Reference], name: str
) -> None:
    made = reference(name)
    model = load(made.folder, device="cpu")
    for length in (7, ORIGINAL, ORIGINAL + 1, len(IDS)):
        assert_near(every_logit(model, IDS[:length]), made.fresh(IDS[:length]))


@pytest.mark.parametrize("name", LONG_TEXTS)
def test_growing_and_rewinding_across_the_border_equals_fresh_passes(
    reference: Callable[[str], Reference], name: str
) -> None:
    """The positions before it are computed anew, and the pass says so."""
    made = reference(name)
    passes = CachedPasses(load(made.folder, device="cpu"))
    kept = []
    for length in [*range(ORIGINAL - 3, ORIGINAL + 4), ORIGINAL - 4, ORIGINAL - 3]:
        run = passes.run(IDS[:length])
        kept.append(run.kept)
        assert run.kept + run.computed == length
        assert_near([run.output.logits], made.fresh(IDS[:length])[-1:])
    assert kept[1:4] == [ORIGINAL - 3, ORIGINAL - 2, ORIGINAL - 1]
    assert kept[4] == 0  # the step across
    assert kept[-2:] == [0, ORIGINAL - 4]  # the rewind, and the step after it


def test_long_and_short_texts_differ(reference: Callable[[str], Reference]) -> None:
    """Were the border not seen, the comparisons above would still have to fail."""
    for name in LONG_TEXTS:
        model = load(reference(name).folder, device="cpu")
        short = every_logit(model, IDS[:ORIGINAL])
        long = every_logit(model, IDS)[:ORIGINAL]
        assert np.abs(short - long).max() > 0.01


def test_a_cache_of_a_short_text_is_refused_where_a_long_one_begins(
    reference: Callable[[str], Reference],
) -> None:
    model = load(reference(next(iter(LONG_TEXTS))).folder, device="cpu")
    cache = model.new_cache()
    model.forward(IDS[:ORIGINAL], cache)
    with pytest.raises(ModelError, match=r"not those of a text of 17 positions$"):
        model.forward(IDS[ORIGINAL : ORIGINAL + 1], cache)
    assert cache.length == ORIGINAL


@pytest.mark.parametrize("name", [name for name, shape in LONG_TEXTS.items() if shape.gguf])
def test_a_gguf_knows_the_border_too(
    reference: Callable[[str], Reference], name: str, tmp_path: Path
) -> None:
    made = reference(name)
    model = load(write_gguf(made.folder, tmp_path / "model.gguf"), device="cpu")
    for length in (ORIGINAL, len(IDS)):
        assert_near(every_logit(model, IDS[:length]), made.fresh(IDS[:length]))
