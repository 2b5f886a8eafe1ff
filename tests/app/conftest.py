from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _still(monkeypatch: pytest.MonkeyPatch) -> None:
    """No animations: pictures are the same every time."""
    monkeypatch.setattr("textual.constants.TEXTUAL_ANIMATIONS", "none")
