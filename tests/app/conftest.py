from __future__ import annotations

import asyncio

import pytest


@pytest.fixture(autouse=True)
def _still_and_quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """No animations, so that pictures are the same every time; and no waiting for an idle CPU.

    The pilot sleeps 20 ms and more around every key until this process uses no time. ``settle`` in
    driving.py waits for what counts instead: that no message is left and all is painted.
    """

    async def soon(*_: float) -> None:
        await asyncio.sleep(0.004)

    monkeypatch.setattr("textual.constants.TEXTUAL_ANIMATIONS", "none")
    monkeypatch.setattr("textual.pilot.wait_for_idle", soon)
    monkeypatch.setattr("textual.app.wait_for_idle", soon)
