"""References, each made once however many tests look at it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.models.families.reference import Reference


@pytest.fixture(autouse=True, scope="module")
def one_thread() -> Iterator[None]:
    """Products this small gain nothing from a second thread, and wait for it on a busy machine."""
    import torch

    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Reference]:
    """Make the reference of a shape in ``shapes.py``, by its name."""
    pytest.importorskip("transformers")
    from tests.models.families.reference import make
    from tests.models.families.shapes import LONG_TEXTS, SHAPES

    shapes = SHAPES | LONG_TEXTS
    made: dict[str, Reference] = {}

    def of(name: str) -> Reference:
        if name not in made:
            made[name] = make(shapes[name], tmp_path_factory.mktemp("reference") / "model")
        return made[name]

    return of
