from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tokenloop.sampling import SamplerSettings
from tokenloop.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable

    from tokenloop_models.model import Model

OPEN = SamplerSettings(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0)
"""Settings that cut nothing, so that every token may come."""


@pytest.fixture
def session(tiny_model: Model) -> Session:
    """A session on the tiny model with a prompt that it has read."""
    session = Session(tiny_model, settings=OPEN, seed=3, shown=8)
    session.open(session.encode("the rain in Spain"))
    return session


@pytest.fixture
def fresh(tiny_model: Model) -> Callable[[list[int]], object]:
    """Logits after ids by one prefill into an empty cache: the truth to compare with."""

    def logits(ids: list[int]) -> object:
        return tiny_model.forward(ids, tiny_model.new_cache()).logits

    return logits
