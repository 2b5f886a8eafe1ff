"""Pictures of the main view: they change only when the screen does."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.image import SVGImageSnapshotExtension

from screenshots.svg import tidy
from tests.app.driving import Driven, driven
from tokenloop.app.prompt_area import PromptArea
from tokenloop.records import Repetition


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


@pytest.mark.parametrize("size", [(140, 40), (100, 30), (80, 24)])
async def test_sampler_stages(picture: SnapshotAssertion, size: tuple[int, int]) -> None:
    async with driven(size=size) as world:
        await world.press("s", "right", "up", "up", "up", "space", "tab")
        assert _svg(world) == picture


@pytest.mark.parametrize("size", [(140, 40), (80, 24)])
async def test_sampler_in_full(picture: SnapshotAssertion, size: tuple[int, int]) -> None:
    async with driven(size=size) as world:
        await world.press("3", *(["z"] if size[0] > 100 else []))
        assert _svg(world) == picture


@pytest.mark.parametrize("size", [(140, 40), (80, 24)])
async def test_bans_biases_and_a_loop(picture: SnapshotAssertion, size: tuple[int, int]) -> None:
    async with driven(size=size) as world:
        world.loop.repetition = Repetition(
            period=9,
            times=3,
            start=4,
            text="␣violets␣are",
            entropy_before_bits=2.1,
            entropy_bits=0.3,
        )
        await world.press("down", "b", "w", "up", "greater_than_sign", "w")
        assert _svg(world) == picture


async def test_presets(picture: SnapshotAssertion) -> None:
    async with driven(size=(80, 24)) as world:
        await world.press("P", "down", "down")
        assert _svg(world) == picture


async def test_start_screen(picture: SnapshotAssertion) -> None:
    async with driven(size=(100, 30), prompt=None) as world:
        world.app.screen.query_one(PromptArea).cursor_blink = False
        await world.settle()
        assert _svg(world) == picture
