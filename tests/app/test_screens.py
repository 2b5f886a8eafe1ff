"""The windows: what a person types in them is what the loop gets."""

from __future__ import annotations

import math

import pytest
from textual import events
from textual.widgets import Input, OptionList, TextArea

from tests.app.driving import driven
from tests.app.fake_loop import EOS
from tokenloop.app.prompt_area import MAX_PASTE, PromptArea
from tokenloop.app.prompts import PROMPTS
from tokenloop.app.screens.start import StartScreen
from tokenloop.sampling import Grammar, SamplerSettings

LINES = "first line\nsecond line\n\n\tfourth, after a blank one"


async def test_start_screen_offers_a_dozen_prompts_the_capital_first() -> None:
    async with driven(prompt=None) as world:
        assert isinstance(world.app.screen, StartScreen)
        assert len(PROMPTS) >= 12
        assert world.app.screen.query_one(PromptArea).text == ""
        await world.press("enter")
        assert world.calls("open") == [("The capital of Australia is",)]
        assert world.app.screen is world.main


async def test_a_prompt_from_the_list_is_shown_in_the_field_and_opened() -> None:
    async with driven(prompt=None) as world:
        await world.press("down", "down")
        area = world.app.screen.query_one(PromptArea)
        assert area.text == PROMPTS[1].text
        await world.press("enter")
        assert world.calls("open") == [(PROMPTS[1].text,)]


async def test_one_can_type_while_the_model_loads_and_it_starts_by_itself() -> None:
    async with driven(prompt=None, hold=True) as world:
        await world.press(*"Once", "enter")
        assert isinstance(world.app.screen, StartScreen)
        assert not world.calls("open")
        world.loop.release()
        await world.settle()
        assert world.calls("open") == [("Once",)]
        assert world.app.screen is world.main


async def test_a_prompt_that_waits_can_be_called_off() -> None:
    async with driven(prompt=None, hold=True) as world:
        await world.press(*"Once", "enter", "escape")
        world.loop.release()
        await world.settle()
        assert not world.calls("open")
        assert isinstance(world.app.screen, StartScreen)


async def test_pasting_many_lines_loses_none() -> None:
    async with driven(prompt=None) as world:
        area = world.app.screen.query_one(PromptArea)
        world.app.post_message(events.Paste(LINES))
        await world.settle()
        assert area.text == LINES
        await world.press("enter")
        assert world.calls("open") == [(LINES,)]


async def test_a_paste_that_no_context_holds_is_refused_with_a_line() -> None:
    async with driven(prompt=None) as world:
        area = world.app.screen.query_one(PromptArea)
        world.app.post_message(events.Paste("x" * (MAX_PASTE + 1)))
        await world.settle()
        assert area.text == ""
        assert "200,001" in str(world.app.screen.query_one("#start-notice").render())


async def test_ctrl_j_is_a_new_line_and_enter_is_go() -> None:
    async with driven(prompt=None) as world:
        await world.press("a", "ctrl+j", "b", "enter")
        assert world.calls("open") == [("a\nb",)]


async def test_the_first_prompt_shines_through_an_empty_field_and_goes_with_typing() -> None:
    async with driven(prompt=None) as world:
        area = world.app.screen.query_one(PromptArea)
        first = area.render_line(0)
        assert PROMPTS[0].text in first.text
        assert any(segment.style and segment.style.italic for segment in first)
        await world.press("x")
        assert area.render_line(0).text.strip() == "x"


async def test_a_model_that_fails_to_load_is_said_and_typing_goes_on() -> None:
    async with driven(prompt=None, hold=True) as world:
        world.loop.fail_next = "x.gguf: general.architecture: mamba is not known"
        world.loop.hold = False
        world.app.load("x.gguf")
        await world.settle()
        note = str(world.app.screen.query_one("#start-notice").render())
        assert note == "x.gguf: general.architecture: mamba is not known"
        await world.press(*"hi", "enter")
        assert isinstance(world.app.screen, StartScreen)


async def test_editing_hands_over_the_whole_text() -> None:
    async with driven() as world:
        await world.press("e")
        area = world.app.screen.query_one(TextArea)
        assert area.text == "The capital of Australia is"
        await world.press(*" Canberra", "enter", *"Yes", "ctrl+s")
        assert world.calls("edit") == [("The capital of Australia is Canberra\nYes", False)]
        assert "kept 0, recomputed 6" in world.notice


@pytest.mark.parametrize("key", ["ctrl+s", "f2", "ctrl+enter"])
async def test_each_apply_key_applies(key: str) -> None:
    async with driven() as world:
        await world.press("e", "x", key)
        assert world.calls("edit") == [("The capital of Australia isx", False)]


async def test_leaving_the_editor_changes_nothing() -> None:
    async with driven() as world:
        await world.press("e", *"junk", "escape")
        assert not world.calls("edit")
        assert world.labels[-1] == "␣is"


async def test_an_unchanged_text_is_no_edit() -> None:
    async with driven() as world:
        await world.press("e", "ctrl+s")
        assert not world.calls("edit")


async def test_specials_are_the_persons_choice() -> None:
    async with driven() as world:
        await world.press("e", *"<|im_end|>", "tab", "space", "ctrl+s")
        assert world.calls("edit") == [("The capital of Australia is<|im_end|>", True)]


async def test_a_text_with_special_tokens_is_edited_as_such() -> None:
    async with driven() as world:
        world.conductor.take(EOS)
        await world.settle()
        await world.press("e", "x", "ctrl+s")
        assert world.calls("edit")[0][1] is True


async def test_typing_appends_text() -> None:
    async with driven() as world:
        await world.press("t", "space", *"Canberra", "enter")
        assert world.calls("type") == [(" Canberra", False)]
        await world.press("t", "enter")
        assert len(world.calls("type")) == 1


@pytest.mark.parametrize(("typed", "steps"), [("5", 5), ("", None), ("59", 59)])
async def test_run_until_takes_a_number(typed: str, steps: int | None) -> None:
    async with driven() as world:
        await world.press("A", *["delete"] * 1, *typed, "enter")
        assert world.calls("run") == [(steps,)]


async def test_run_until_refuses_what_is_no_number_of_tokens() -> None:
    for typed in ("0", "-3", "x", "60", "1.5", "²"):
        async with driven() as world:
            await world.press("A", "delete")
            world.app.screen.query_one(Input).value = typed
            await world.press("enter")
            assert not world.calls("run"), typed
            assert "1 to 59" in str(world.app.screen.query_one(".note").render())


async def test_help_names_every_key() -> None:
    from tokenloop.app.keys import COMMANDS, keys_of
    from tokenloop.app.screens.help import help_page

    for width in (120, 75, 35):
        page = str(help_page({}, width))
        assert all(len(line.rstrip()) <= width for line in page.splitlines())
        words = " ".join(page.split())
        for command in COMMANDS:
            assert command.help in words
            assert all(key in page for key in keys_of(command, {}))


async def test_models_screen_lists_and_loads(monkeypatch: pytest.MonkeyPatch) -> None:
    from pathlib import Path

    from tokenloop_models.local import LocalModel

    found = [
        LocalModel(
            name="tiny[/nope]",
            title="Tiny [bold]\x1b[31m",
            path=Path("tiny.gguf"),
            size=1_000_000,
            family="llama",
            quantisation=None,
            context_length=64,
        )
    ]
    monkeypatch.setattr("tokenloop.app.windows._find_models", lambda: found)
    async with driven() as world:
        await world.press("m")
        await world.pilot.pause(0.2)
        assert world.app.screen.query_one(OptionList).option_count == 1
        await world.press("enter")
        assert world.calls("load") == [("fake",), ("tiny[/nope]",)]
        assert world.calls("open")[-1] == ("The capital of Australia is",)


async def test_models_screen_says_what_went_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> list[object]:
        raise OSError("the disk is gone")

    monkeypatch.setattr("tokenloop.app.windows._find_models", broken)
    async with driven() as world:
        await world.press("m")
        await world.pilot.pause(0.2)
        assert "the disk is gone" in str(world.app.screen.query_one(".note").render())


async def test_presets_are_tried_at_once_and_kept_by_enter() -> None:
    async with driven() as world:
        await world.press("P", "down", "down")
        assert [call[0].order for call in world.calls("configure")] == ["transformers"]
        await world.press("down", "enter")
        assert world.app.screen is world.main
        assert world.conductor.settings.greedy
        assert not world.calls("step")


async def test_greedy_comes_back_to_the_temperature_before_presets_only_tried() -> None:
    async with driven() as world:
        await world.press("plus", "P", "down", "down", "down", "enter")
        assert world.conductor.settings.greedy
        await world.press("0")
        assert world.conductor.settings.temperature == 0.9


async def test_greedy_comes_back_to_the_temperature_of_a_preset_that_was_kept() -> None:
    async with driven() as world:
        await world.press("P", "down", "down", "enter", "0", "0")
        assert world.conductor.settings.temperature == 1.0


async def test_leaving_the_presets_brings_the_settings_back() -> None:
    async with driven() as world:
        await world.press("plus", "P", "down", "down", "down", "escape")
        assert world.conductor.settings.temperature == 0.9
        assert world.calls("configure")[-1][0].temperature == 0.9


async def test_ones_own_presets_stand_beside_the_others_and_keep_the_bans() -> None:
    own = {"bold[/x]": SamplerSettings(temperature=1.5, stages=("min_p", "temperature"))}
    async with driven(size=(80, 24), presets=own) as world:
        await world.press("down", "b", "P", "end")
        settings = world.calls("configure")[-1][0]
        assert settings.temperature == 1.5
        assert list(settings.logit_bias.values()) == [-math.inf]
        options = world.app.screen.query_one(OptionList)
        shown = "\n".join(options.render_line(row).text for row in range(options.size.height))
        assert "bold[/x]" in shown
        assert "temperature 1.5" in shown


async def test_ones_own_presets_are_told_in_words() -> None:
    own = SamplerSettings(
        logit_bias={5: -2.0, 260: -math.inf},
        bad_words=((1, 2), (3,)),
        grammar=Grammar("regex", " [A-Z]+"),
    )
    async with driven(presets={"mine": own}) as world:
        await world.press("P")
        options = world.app.screen.query_one(OptionList)
        shown = "\n".join(options.render_line(row).text for row in range(options.size.height))
        assert "logit_bias 5=-2 260=-inf, bad_words 1 2; 3, grammar regex [A-Z]+" in shown


async def test_presets_that_name_a_ready_made_one_take_its_place() -> None:
    async with driven(presets={"creative": SamplerSettings(temperature=1.5)}) as world:
        await world.press("P", "end")
        assert world.app.screen.query_one(OptionList).option_count == 6
        assert world.calls("configure")[-1][0].temperature == 1.5
