from tests.app.driving import driven


async def test_opens_on_the_prompt_and_steps() -> None:
    async with driven() as world:
        assert world.labels == ["The", "␣capital", "␣of", "␣Australia", "␣is"]
        await world.press("space")
        assert world.labels[-1] == "␣Sydney"
