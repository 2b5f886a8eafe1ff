"""What the widgets' tests draw: moments of a real model, and both palettes."""

from __future__ import annotations

import pytest

from tokenloop_widgets.palette import DARK, LIGHT, Palette
from tokenloop_widgets.recorded import Recording, read


@pytest.fixture(scope="session")
def recording() -> Recording:
    return read()


@pytest.fixture(scope="session")
def dark() -> Palette:
    return Palette.from_theme(DARK)


@pytest.fixture(scope="session")
def light() -> Palette:
    return Palette.from_theme(LIGHT)
