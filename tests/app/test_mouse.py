"""The mouse: a click looks at a token, highlights a candidate, takes it, presses a footer key."""

from __future__ import annotations

from tests.app.driving import driven


async def test_clicking_a_token_looks_at_it() -> None:
    async with driven() as world:
        await world.pilot.click("#text", offset=(8, 1))
        await world.settle()
        assert world.main.view.then_position == 1


async def test_clicking_a_candidate_highlights_and_clicking_again_takes_it() -> None:
    async with driven() as world:
        await world.pilot.click("#candidates", offset=(12, 3))
        await world.settle()
        assert world.main.panels.candidates.highlighted == 1
        assert not world.calls("force")
        await world.pilot.click("#candidates", offset=(12, 3))
        await world.settle()
        assert world.calls("force") == [(1,)]


async def test_clicking_a_footer_key_does_what_it_says() -> None:
    async with driven() as world:
        await world.pilot.click("#keys", offset=(2, 0))
        await world.settle()
        assert world.calls("step") == [()]


async def test_clicking_a_summary_line_opens_that_panel() -> None:
    async with driven(size=(80, 24)) as world:
        await world.pilot.click("#summary", offset=(10, 2))
        await world.settle()
        assert world.shown == ["cache"]
