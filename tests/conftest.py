"""Fixtures that every package's tests may use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import hypothesis
import pytest

from tests.tiny_model import TinySpec, write_folder

if TYPE_CHECKING:
    from pathlib import Path

    from tokenloop_models.model import Model

# The same examples on every machine, so that a red test is red for everyone; `make test-deep`
# looks further, at new ones each time. No deadline: nothing is asserted about time.
_ANY_TIME = {"deadline": None, "suppress_health_check": [hypothesis.HealthCheck.too_slow]}
hypothesis.settings.register_profile("quick", derandomize=True, max_examples=40, **_ANY_TIME)
hypothesis.settings.register_profile("deep", max_examples=1000, **_ANY_TIME)
hypothesis.settings.load_profile("quick")


@pytest.fixture(scope="session")
def real_model_path() -> Path:
    """The proven file of the default model: found in the cache folder, else fetched as by a user.

    Where it can't be had, the test is skipped with the reason.
    """
    from tokenloop_models.catalogue import CATALOGUE, DEFAULT
    from tokenloop_models.errors import ModelError
    from tokenloop_models.fetch import pull

    try:
        path = pull(DEFAULT)
    except ModelError as error:
        pytest.skip(str(error))
    if path.name != CATALOGUE[DEFAULT].file:
        pytest.skip(f"{path} came from the hub: the reference values are of the quantised file")
    return path


@pytest.fixture(scope="session")
def tiny_model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny random Llama with grouped-query attention and 299 tokens."""
    return write_folder(TinySpec(), tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def tiny_model(tiny_model_folder: Path) -> Model:
    """That model, loaded; it keeps no state, so that every test may share it."""
    from tokenloop_models import load

    return load(tiny_model_folder, device="cpu", dtype="float32")
