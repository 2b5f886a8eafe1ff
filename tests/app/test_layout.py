"""The arrangement follows the terminal's size, down to one cell and back."""

from __future__ import annotations

import pytest

from tests.app.driving import driven
from tokenloop.app.layout import layout_for
from tokenloop_widgets import StageList

ALL = ["text", "candidates", "sampler", "cache", "latency"]


@pytest.mark.parametrize(
    ("size", "layout"),
    [
        ((140, 40), "wide"),
        ((120, 34), "wide"),
        ((119, 40), "medium"),
        ((100, 30), "medium"),
        ((140, 27), "small"),
        ((80, 24), "small"),
        ((60, 18), "small"),
        ((59, 24), "tiny"),
        ((80, 17), "tiny"),
        ((1, 1), "tiny"),
    ],
)
def test_layout_for_size(size: tuple[int, int], layout: str) -> None:
    assert layout_for(*size) == layout


@pytest.mark.parametrize(
    ("size", "shown"),
    [
        ((140, 40), ALL),
        ((100, 30), ALL),
        ((80, 24), ["text", "candidates", "summary"]),
        ((40, 10), ["text", "candidates"]),
    ],
)
async def test_what_is_shown_at_a_size(size: tuple[int, int], shown: list[str]) -> None:
    async with driven(size=size) as world:
        assert world.shown == shown


async def test_in_a_small_terminal_numbers_open_the_others_in_full_and_close_them() -> None:
    async with driven(size=(80, 24)) as world:
        for key, name in (("3", "sampler"), ("4", "cache"), ("5", "latency")):
            await world.press(key)
            assert world.shown == [name]
            await world.press(key)
            assert world.shown == ["text", "candidates", "summary"]
        await world.press("5", "escape")
        assert world.shown == ["text", "candidates", "summary"]


@pytest.mark.parametrize(
    "prepare", [(), ("s",), ("e",), ("n",), ("question_mark",), ("A",), ("z",)]
)
async def test_any_size_survives_and_the_old_one_comes_back(prepare: tuple[str, ...]) -> None:
    async with driven() as world:
        await world.press("space", *prepare)
        before = world.app.export_screenshot()
        for size in ((100, 30), (80, 24), (30, 8), (5, 3), (2, 2), (1, 1), (300, 90), (140, 40)):
            await world.pilot.resize_terminal(*size)
            await world.settle()
        assert _drawn(world.app.export_screenshot()) == _drawn(before)


async def test_keys_still_work_at_one_cell() -> None:
    async with driven(size=(1, 1)) as world:
        await world.press("space", "left", "r", "left_square_bracket", "escape", "3", "z", "p")
        await world.pilot.resize_terminal(140, 40)
        await world.settle()
        assert world.labels == ["The", "␣capital", "␣of", "␣Australia", "␣is"]


def _drawn(svg: str) -> list[str]:
    """The texts of a picture, without the ids that differ from one to the next."""
    return [line.split(">", 1)[1] for line in svg.splitlines() if line.startswith("<text")]


@pytest.mark.parametrize("size", [(40, 10), (30, 8), (80, 24), (59, 30)])
async def test_the_focused_setting_and_the_line_below_are_always_in_view(
    size: tuple[int, int],
) -> None:
    async with driven(size=size) as world:
        await world.press("s")
        screen = world.app.screen
        stages = screen.query_one(StageList)
        for _ in range(24):
            shown = [stages.render_line(row).text for row in range(stages.size.height)]
            assert any(line.startswith("▌") for line in shown)
            note = screen.query_one(".note").region
            assert note.height == 1
            assert note.bottom < size[1]
            await world.press("up")


@pytest.mark.parametrize("key", ["t", "e", "s", "A", "m", "question_mark"])
async def test_a_window_is_whole_in_a_tiny_terminal(key: str) -> None:
    async with driven(size=(40, 10)) as world:
        world.conductor.open("a prompt of so many words that its end alone fits into a line")
        await world.settle()
        await world.press(key)
        window = world.app.screen.query_one(".window").region
        note = world.app.screen.query_one(".note").region
        assert world.app.screen.region.contains_region(window)
        assert window.contains_region(note)
        assert note.height
