"""Pictures of the main view: they change only when the screen does."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.image import SVGImageSnapshotExtension

from screenshots.svg import tidy
from tests.app.driving import Driven, driven
from tokenloop.app.prompt_area import PromptArea


@pytest.fixture
def picture(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(SVGImageSnapshotExtension)


def _svg(world: Driven) -> str:
    return tidy(world.app.export_screenshot(title="tokenloop"))


@pytest.mark.parametrize("size", [(140, 40), (100, 30), (80, 24)])
async def test_main_view_now(picture: SnapshotAssertion, size: tuple[int, int]) -> None:
    async with driven(size=size) as world:
        await world.press("space", "space", "down", "down")
        assert _svg(world) == picture


async def test_main_view_then(picture: SnapshotAssertion) -> None:
    async with driven() as world:
        await world.press("space", "space", "left_square_bracket", "left_square_bracket")
        assert _svg(world) == picture


async def test_main_view_light(picture: SnapshotAssertion) -> None:
    async with driven(theme="light") as world:
        await world.press("space")
        assert _svg(world) == picture


async def test_sampler_settings(picture: SnapshotAssertion) -> None:
    async with driven() as world:
        await world.press("s", "right")
        assert _svg(world) == picture


async def test_start_screen(picture: SnapshotAssertion) -> None:
    async with driven(size=(100, 30), prompt=None) as world:
        world.app.screen.query_one(PromptArea).cursor_blink = False
        await world.settle()
        assert _svg(world) == picture
