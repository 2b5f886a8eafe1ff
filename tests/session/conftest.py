from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import strategies as st

from tokenloop.sampling import ORDER_NAMES, PARAMETERS, SamplerSettings
from tokenloop.sampling.orders import STAGE_NAMES
from tokenloop.session import Session

if TYPE_CHECKING:
    from collections.abc import Callable

    from tokenloop.sampling import Parameter
    from tokenloop_models.model import Model

OPEN = SamplerSettings(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0)
"""Settings that cut nothing, so that every token may come."""


class CountingModel:
    """A model that counts its passes."""

    def __init__(self, model: Model) -> None:
        self._model = model
        self.passes = 0

    def __getattr__(self, name: str) -> object:
        return getattr(self._model, name)

    def forward(self, *args: object, **options: object) -> object:
        self.passes += 1
        return self._model.forward(*args, **options)


def any_settings() -> st.SearchStrategy[SamplerSettings]:
    """Settings with any number of any stage turned, in any order, some stages off."""
    stages = sorted(STAGE_NAMES)
    ids = st.integers(0, 298)
    return st.builds(
        SamplerSettings,
        order=st.sampled_from(ORDER_NAMES),
        stages=st.just(()) | st.permutations(stages).map(tuple),
        off=st.lists(st.sampled_from(stages), unique=True, max_size=3).map(tuple),
        repeat_last_n=st.none() | st.integers(-1, 20),
        penalize_prompt=st.booleans(),
        logit_bias=st.dictionaries(ids, st.floats(-5, 5) | st.just(float("-inf")), max_size=3),
        bad_words=st.lists(st.lists(ids, min_size=1, max_size=2).map(tuple), max_size=2).map(tuple),
        **{name: _value(parameter) for name, parameter in PARAMETERS.items()},
    )


def _value(parameter: Parameter) -> st.SearchStrategy[float]:
    """Mostly the default, so that a few stages meet rather than all of them."""
    default = st.just(getattr(SamplerSettings(), parameter.name))
    if parameter.name == "mirostat":
        return default | st.sampled_from([0, 2])
    low, high = parameter.swept
    turned = st.integers(int(low), int(high)) if parameter.whole else st.floats(low, high)
    return st.one_of(default, default, turned)


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
