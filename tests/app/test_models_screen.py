"""Choosing a model: from the list, by another name, and one that must be fetched first."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textual.widgets import Input, OptionList

from tests.app.driving import Driven, driven
from tests.models.toy_hub import HUB_FILES, ToyHub, serving
from tokenloop.app.screens.models import ModelsScreen
from tokenloop_models.errors import Cancelled, ModelError
from tokenloop_models.local import LocalModel


def model(name: str, **said: Any) -> LocalModel:
    given = {"title": name, "path": Path(name), "size": 1_000_000, "family": "llama"}
    given |= {"quantisation": None, "context_length": 64}
    return LocalModel(name=name, **(given | said))


FOUND = [
    model("odd", problem="model_type: 'mamba' is not supported"),
    model("org/tiny", dtype="bfloat16"),
    model("ollama:tiny:1b", title="Tiny", quantisation="Q4_0"),
]


@pytest.fixture(autouse=True)
def found(monkeypatch: pytest.MonkeyPatch) -> list[LocalModel]:
    models = list(FOUND)
    monkeypatch.setattr("tokenloop.app.windows._find_models", lambda: models)
    return models


async def open_list(world: Driven) -> ModelsScreen:
    await world.press("m")
    await world.pilot.pause(0.2)
    assert isinstance(world.app.screen, ModelsScreen)
    return world.app.screen


def lines(screen: ModelsScreen) -> list[str]:
    options = screen.query_one(OptionList)
    return [str(options.get_option_at_index(n).prompt) for n in range(options.option_count)]


async def test_the_list_says_what_each_is_and_what_cannot_be_opened() -> None:
    async with driven() as world:
        screen = await open_list(world)
        odd, tiny, ollama = lines(screen)
        assert odd.endswith("✗ model_type: 'mamba' is not supported")
        assert tiny.endswith("llama · bfloat16 · 64 positions · 1 MB")
        assert ollama.endswith("llama · Q4_0 · 64 positions · 1 MB · Ollama")
        assert screen.query_one(OptionList).highlighted == 1, "the first that can be opened"
        await world.press("enter")
        assert world.calls("load")[-1] == ("org/tiny",)


async def test_any_other_name_can_be_typed() -> None:
    async with driven() as world:
        await open_list(world)
        await world.press("tab", *"x.gguf", "enter")
        assert world.calls("load")[-1] == ("x.gguf",)


async def test_with_nothing_here_the_field_has_the_focus(found: list[LocalModel]) -> None:
    found.clear()
    async with driven() as world:
        screen = await open_list(world)
        assert screen.query_one(Input).has_focus
        await world.press("enter")
        assert world.app.screen is screen, "an empty name is no choice"


Pull = Callable[..., Path]


def slow_pull(go_on: threading.Event, ending: Exception | None = None) -> Pull:
    """A pull that tells one progress, then waits, as long as it isn't called off."""

    def pull(name: str, progress: Any, *, cancelled: Callable[[], bool]) -> Path:
        progress("download", 250, 1000)
        while not go_on.wait(0.01):
            if cancelled():
                raise Cancelled("the pull was stopped")
        if ending is not None:
            raise ending
        return Path(name)

    return pull


async def test_a_model_of_the_hub_is_fetched_while_the_loop_goes_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    go_on = threading.Event()
    monkeypatch.setattr("tokenloop_models.fetch.pull", slow_pull(go_on))
    monkeypatch.setattr("tokenloop.app.application.must_be_fetched", lambda name: "/" in name)
    async with driven() as world:
        await open_list(world)
        await world.press("tab", *"org/new", "enter")
        await world.pilot.pause(0.2)
        assert world.conductor.fetching is not None
        assert world.conductor.fetching.done == 250
        await world.press("space")
        assert world.calls("step"), "the text that is open can be stepped meanwhile"
        assert ("org/new",) not in world.calls("load")
        go_on.set()
        await world.pilot.pause(0.3)
        await world.settle()
        assert world.calls("load")[-1] == ("org/new",)
        assert world.conductor.fetching is None


async def test_a_pull_can_be_called_off_where_it_was_asked_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tokenloop_models.fetch.pull", slow_pull(threading.Event()))
    monkeypatch.setattr("tokenloop.app.application.must_be_fetched", lambda name: "/" in name)
    async with driven() as world:
        await open_list(world)
        await world.press("tab", *"org/new", "enter")
        screen = await open_list(world)
        assert "call off" in str(screen.note.render())
        await world.press("ctrl+x")
        await world.pilot.pause(0.3)
        assert not world.app.supply.pulling
        assert world.notice == "called off"
        assert ("org/new",) not in world.calls("load")


async def test_a_pull_that_fails_is_said_in_its_own_words(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()
    go_on.set()
    gated = ModelError("org/new is gated: accept its terms")
    monkeypatch.setattr("tokenloop_models.fetch.pull", slow_pull(go_on, gated))
    monkeypatch.setattr("tokenloop.app.application.must_be_fetched", lambda name: "/" in name)
    async with driven() as world:
        await open_list(world)
        await world.press("tab", *"org/new", "enter")
        await world.pilot.pause(0.3)
        assert world.notice == "org/new is gated: accept its terms"


async def test_a_name_that_is_none_is_said() -> None:
    async with driven() as world:
        await open_list(world)
        await world.press("tab", *"org/new:config.json", "enter")
        assert "a .gguf of the repository is allowed" in world.notice
        assert len(world.calls("load")) == 1


async def test_a_model_of_a_real_hub_arrives_and_is_loaded(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for name in [name for name in os.environ if name.startswith("HF_")]:
        monkeypatch.delenv(name)
    cache = tmp_path / "hub"
    monkeypatch.setenv("HF_HUB_CACHE", str(cache))
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(cache))
    with serving(ToyHub(HUB_FILES)) as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.address)
        async with driven() as world:
            await open_list(world)
            await world.press("tab", *"toys/Toy-1K", "enter")
            for _ in range(300):
                await world.pilot.pause(0.1)
                if ("toys/Toy-1K",) in world.calls("load"):
                    break
            assert world.calls("load")[-1] == ("toys/Toy-1K",)
    assert (cache / "models--toys--Toy-1K").is_dir()
