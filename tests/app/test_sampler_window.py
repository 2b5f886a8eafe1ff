"""The window of the sampler's stages: what is pressed in it is what the loop gets, with no pass."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from msgspec import structs
from textual import events

from tests.app.driving import Driven, driven
from tokenloop.app.sampler.rows import rows_of
from tokenloop.app.screens.presets import PresetsScreen
from tokenloop.app.screens.sampler import SamplerEditor, SettingInput
from tokenloop.loop.events import Failed
from tokenloop.sampling import ORDERS, Grammar, SamplerSettings
from tokenloop_widgets import StageList

if TYPE_CHECKING:
    from pathlib import Path


async def select(world: Driven, field: str) -> None:
    """Open the window if need be and go to a setting."""
    if not world.main.editing:
        await world.press("s")
    screen = world.main.query_one(SamplerEditor)
    screen._end_typing()
    rows = rows_of(world.conductor.settings)
    index = next(n for n, row in enumerate(rows) if field in [f.name for f in row.fields])
    cell = [f.name for f in rows[index].fields].index(field)
    screen._go_to(index)
    screen._cell = cell
    screen._explain()
    screen.follow()
    await world.settle()


async def write(world: Driven, text: str) -> None:
    """Put another text into the selected value's field."""
    await world.press("enter")
    world.app.screen.query_one(SettingInput).value = text
    await world.settle()


def settings_of(world: Driven) -> SamplerSettings:
    (settings,) = world.calls("configure")[-1]
    assert isinstance(settings, SamplerSettings)
    return settings


def note_of(world: Driven) -> str:
    return str(world.app.screen.query_one(".note").render())


def row_of(world: Driven, name: str) -> str:
    """The line of a stage."""
    stages = world.app.screen.query_one(StageList)
    lines = [stages.render_line(row).text for row in range(stages.size.height)]
    return next(line for line in lines if line[3:].startswith(name))


@pytest.mark.parametrize("size", [(140, 40), (80, 24)])
async def test_why_a_stage_that_is_on_does_nothing_is_there_whole(size: tuple[int, int]) -> None:
    async with driven(size=size) as world:
        world.conductor.configure(SamplerSettings(xtc_probability=0.5))
        await select(world, "xtc_probability")
        assert note_of(world).startswith("now: by chance: 0.63 is not below 0.5 · XTC probability")
        await select(world, "top_k")
        assert note_of(world).endswith("now: exactly k")


async def test_labels_in_the_note_keep_their_blanks() -> None:
    async with driven() as world:
        await select(world, "temperature")
        snapshot = world.conductor.snapshot
        assert snapshot is not None
        assert snapshot.choice is not None
        stages = [structs.replace(stage, note="␣ a") for stage in snapshot.choice.stages]
        choice = structs.replace(snapshot.choice, stages=tuple(stages))
        world.conductor.snapshot = structs.replace(snapshot, choice=choice)
        world.main.follow()
        await world.settle()
        assert note_of(world).endswith("␣ a")


async def test_arrows_change_the_value_at_once_without_a_pass() -> None:
    async with driven() as world:
        before = world.main.view.choice
        await world.press("s", "right", "right")
        assert [call[0].temperature for call in world.calls("configure")] == [0.9, 1.0]
        after = world.main.view.choice
        assert before is not None
        assert after is not None
        assert after.candidates[0].final_p != before.candidates[0].final_p
        assert after.candidates[0].p == before.candidates[0].p
        assert not world.calls("step")
        title = str(world.app.screen.query_one("#sampler-window").border_title)
        assert "no pass" in title
        assert "no pass" in str(world.main.panels.latency.border_subtitle)


TYPED: tuple[tuple[str, str, object], ...] = (
    ("temperature", "1.25", 1.25),
    ("top_k", "5", 5),
    ("top_p", "0.5", 0.5),
    ("min_p", "0.2", 0.2),
    ("repeat_penalty", "1.3", 1.3),
    ("frequency_penalty", "-0.5", -0.5),
    ("presence_penalty", "0.5", 0.5),
    ("repeat_last_n", "all", -1),
    ("repeat_last_n", "128", 128),
    ("penalize_prompt", "no", False),
    ("typical_p", "0.9", 0.9),
    ("dry_multiplier", "0.8", 0.8),
    ("dry_sequence_breakers", r"\n \s\s ;", ("\n", "  ", ";")),
    ("xtc_threshold", "0.2", 0.2),
    ("mirostat_tau", "3", 3.0),
    ("min_keep", "2", 2),
    ("order", "transformers", "transformers"),
    ("logit_bias", "7=-inf 8=2", {7: -math.inf, 8: 2.0}),
    ("bad_words", "1,2;3", ((1, 2), (3,))),
)


async def test_every_setting_can_be_typed() -> None:
    async with driven() as world:
        for field, typed, value in TYPED:
            await select(world, field)
            await write(world, typed)
            assert getattr(settings_of(world), field) == value
            await world.press("enter")
            assert world.app.screen.query_one(StageList).has_focus


async def test_arrows_and_tab_walk_the_stages_and_their_settings() -> None:
    async with driven() as world:
        await world.press("s", "home", "down", "k", "j", "end", "up", "up", "right")
        assert settings_of(world).order == "transformers"
        await world.press("home", "down", "down", "tab", "shift+tab", "right")
        assert settings_of(world).dry_multiplier == 0.1
        await world.press("tab", "right", "shift+tab", "right")
        assert settings_of(world).dry_base == 1.8
        assert settings_of(world).dry_multiplier == 0.2


async def test_a_digit_begins_a_value_and_escape_takes_it_back() -> None:
    async with driven() as world:
        await world.press("s", "1", "full_stop", "5")
        assert settings_of(world).temperature == 1.5
        await world.press("escape")
        assert settings_of(world).temperature == 0.8
        assert world.main.editing
        await world.press("0", "full_stop", "3", "down")
        assert settings_of(world).temperature == 0.3
        await world.press("escape")
        assert not world.main.editing


async def test_the_seed_can_be_typed() -> None:
    async with driven() as world:
        await select(world, "seed")
        await write(world, "11")
        assert world.calls("reseed")[-1] == (11,)


REFUSED = (
    ("temperature", "-1", "0 to 100"),
    ("temperature", "nan", "0 to 100"),
    ("temperature", "", "a number"),
    ("top_k", "2.5", "whole number"),
    ("top_p", "1.5", "0 to 1"),
    ("repeat_penalty", "0", "0.01 to 100"),
    ("order", "mine", "llamacpp or transformers"),
    ("repeat_last_n", "-7", "-1"),
    ("penalize_prompt", "perhaps", "yes or no"),
    ("mirostat", "1", "version 2"),
    ("seed", "-1", "whole number"),
    ("logit_bias", "7", "id=number"),
    ("logit_bias", "x=1", "id=number"),
    ("bad_words", "x", "token ids"),
    ("grammar_kind", "prolog", "json_schema"),
)


async def test_a_value_that_cant_be_is_said_in_one_line_and_not_kept() -> None:
    async with driven() as world:
        for field, typed, said in REFUSED:
            await select(world, field)
            await world.press("enter")
            box = world.app.screen.query_one(SettingInput)
            held = box.value
            box.value = typed
            await world.settle()
            assert said in note_of(world), (field, typed)
            assert "\n" not in note_of(world)
            assert box.has_class("-wrong")
            box.value = held
            await world.settle()
            assert not box.has_class("-wrong")
        assert not world.calls("configure")
        assert not world.calls("reseed")


async def test_arrows_stop_at_the_ends_of_a_range() -> None:
    async with driven() as world:
        await select(world, "top_p")
        await world.press("right", "right")
        assert [call[0].top_p for call in world.calls("configure")] == [1.0]


async def test_space_switches_a_stage_off_and_on_and_its_value_stays() -> None:
    async with driven() as world:
        await select(world, "top_k")
        assert row_of(world, "top-k").startswith("▌● top-k")
        await world.press("space")
        assert settings_of(world).off == ("top_k",)
        assert "switched off" in row_of(world, "top-k")
        await world.press("space")
        assert settings_of(world).off == ()
        assert settings_of(world).top_k == 40


async def test_space_turns_a_stage_on_whose_value_is_off() -> None:
    async with driven() as world:
        await select(world, "xtc_probability")
        await world.press("space")
        assert settings_of(world).xtc_probability == 0.5
        assert "by chance" in row_of(world, "XTC")
        assert "by chance: 0.63 is not below 0.5" in note_of(world)


async def test_a_stage_with_nothing_in_it_says_so() -> None:
    async with driven() as world:
        for field in ("logit_bias", "bad_words", "grammar_text"):
            await select(world, field)
            await world.press("space")
            assert "enter types it" in note_of(world)
        assert not world.calls("configure")


@pytest.mark.parametrize(("later", "earlier"), [("J", "K"), ("shift+down", "shift+up")])
async def test_a_stage_moves_in_the_chain_and_o_brings_the_traditions_order_back(
    later: str, earlier: str
) -> None:
    async with driven() as world:
        await select(world, "top_k")
        own = ORDERS["llamacpp"]
        here = own.index("top_k")
        await world.press(later)
        chain = settings_of(world).stages
        assert chain[here : here + 2] == (own[here + 1], "top_k")
        assert "own order" in str(world.app.screen.query_one("#sampler-window").border_title)
        await world.press(earlier)
        assert settings_of(world).stages == ()
        await world.press(earlier, earlier)
        assert settings_of(world).stages.index("top_k") == here - 2
        await world.press("o")
        assert settings_of(world).stages == ()
        assert not world.calls("step")


async def test_what_is_no_stage_does_not_move() -> None:
    async with driven() as world:
        await select(world, "seed")
        await world.press("K")
        assert "only stages" in note_of(world)
        assert not world.calls("configure")


async def test_delete_brings_the_rows_defaults_back() -> None:
    async with driven() as world:
        await select(world, "repeat_penalty")
        await world.press("right", "tab", "right", "delete")
        assert settings_of(world) == SamplerSettings()
        await select(world, "seed")
        await world.press("right", "delete")
        assert world.calls("reseed") == [(8,), (7,)]


async def test_a_grammar_is_applied_when_it_is_complete() -> None:
    async with driven() as world:
        await select(world, "grammar_kind")
        await world.press("right", "tab")
        await write(world, "[ab]+")
        assert not world.calls("configure")
        await world.press("enter")
        assert settings_of(world).grammar == Grammar("regex", "[ab]+")
        await world.press("tab", "right")
        assert settings_of(world).grammar == Grammar("lark", "[ab]+")
        await world.press("delete")
        assert settings_of(world).grammar is None


async def test_a_grammar_that_is_refused_is_there_to_be_mended() -> None:
    async with driven() as world:
        await select(world, "grammar_text")
        await write(world, "[ab")
        world.loop.fail_next = "grammar = '[ab' is not possible: regex: unclosed character class"
        await world.press("enter")
        assert "unclosed character class" in note_of(world)
        assert world.conductor.settings.grammar is None
        await world.press("enter", "right_square_bracket", "enter")
        assert settings_of(world).grammar == Grammar("json_schema", "[ab]")


async def test_a_refused_grammar_is_there_to_be_mended_over_one_that_holds() -> None:
    async with driven() as world:
        await select(world, "grammar_text")
        await write(world, "{}")
        await world.press("enter")
        await write(world, '{"type": "object"')
        world.loop.fail_next = "grammar = … is not possible: JSON Schema: it is no JSON"
        await world.press("enter")
        assert world.conductor.settings.grammar == Grammar("json_schema", "{}")
        await world.press("enter", "right_curly_bracket", "enter")
        assert settings_of(world).grammar == Grammar("json_schema", '{"type": "object"}')
        await world.press("enter")
        assert world.app.screen.query_one(SettingInput).value == '{"type": "object"}'


async def test_a_kind_that_the_text_does_not_fit_is_refused_with_the_way_out() -> None:
    async with driven() as world:
        await select(world, "grammar_kind")
        await world.press("right", "tab")
        await write(world, "(a|b)+")
        await world.press("enter", "shift+tab")
        world.loop.fail_next = "grammar = '(a|b)+' is not possible: JSON Schema: it is no JSON"
        await world.press("left")
        assert note_of(world).startswith("del takes the text away")
        assert "it is no JSON" in note_of(world)
        await world.press("delete", "tab")
        await write(world, "{}")
        await world.press("enter")
        assert settings_of(world).grammar == Grammar("json_schema", "{}")


async def test_a_grammar_can_come_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "answer.json"
    file.write_text('{"type": "object"}', encoding="utf-8")
    async with driven() as world:
        await select(world, "grammar_text")
        await world.press("enter")
        box = world.app.screen.query_one(SettingInput)
        box.value = f"@{tmp_path / 'missing.json'}"
        await world.press("enter")
        assert "missing.json: No such file" in note_of(world)
        assert not world.calls("configure")
        box.value = f"@{file}"
        await world.press("enter")
        assert settings_of(world).grammar == Grammar("json_schema", '{"type": "object"}')


async def test_what_the_session_refuses_is_said_in_the_window_and_the_value_is_as_before() -> None:
    async with driven() as world:
        await select(world, "top_k")
        world.loop.hold = True
        await world.press("right")
        assert settings_of(world).top_k == 41
        request = world.conductor._configure_request
        assert request is not None
        world.app._mailbox.put(Failed(request=request, message="top_k = 41 is not possible"))
        await world.settle()
        assert note_of(world) == "top_k = 41 is not possible"
        assert "40" in row_of(world, "top-k")


async def test_a_held_key_never_sets_a_value_back() -> None:
    async with driven() as world:
        await world.press("s")
        world.loop.hold = True
        await world.press(*["right"] * 5)
        assert [round(call[0].temperature, 1) for call in world.calls("configure")] == [
            0.9,
            1.0,
            1.1,
            1.2,
            1.3,
        ]
        world.loop.release()
        await world.settle()
        assert world.conductor.settings.temperature == 1.3


async def test_presets_open_from_the_window_and_lead_back_to_it() -> None:
    async with driven() as world:
        await world.press("s", "P")
        assert isinstance(world.app.screen, PresetsScreen)
        await world.press("end", "enter")
        assert world.main.editing
        assert "0.3" in row_of(world, "temperature")
        await world.press("escape")
        assert world.focused == "candidates"
        assert world.shown == ["text", "candidates", "sampler", "cache", "latency"]


async def test_the_panels_stand_as_before_once_the_window_is_closed() -> None:
    for size in ((140, 40), (100, 30), (80, 24), (40, 10)):
        async with driven(size=size) as world:
            before = {panel.id: panel.region for panel in world.main.panels if panel.display}
            await world.press("s", "escape")
            after = {panel.id: panel.region for panel in world.main.panels if panel.display}
            assert after == before


async def test_the_window_covers_the_sampler_and_nothing_else() -> None:
    for size in ((140, 40), (100, 30), (80, 24)):
        async with driven(size=size) as world:
            await world.press("s")
            window = world.app.screen.query_one("#sampler-window").region
            for panel in world.main.panels:
                if panel.display:
                    assert not panel.region.overlaps(window), (size, panel.id)
            assert window.bottom == size[1]


async def test_the_window_scrolls_with_the_wheel_and_takes_clicks() -> None:
    async with driven() as world:
        await world.press("s")
        await world.pilot.click(StageList, offset=(5, 0))
        await world.settle()
        assert row_of(world, "logit bias").startswith("▌")


async def test_no_key_in_the_window_reaches_the_session() -> None:
    async with driven() as world:
        await world.press("s", *"rRaAtenmcpzdwbv", "left_square_bracket", "question_mark", "q", "y")
        assert {call[0] for call in world.loop.calls} <= {"load", "open"}
        assert world.main.editing
        assert world.app.screen is world.main
        assert world.app.is_running
        await world.press("s", "r")
        assert world.calls("roll") == [()]


async def test_text_typed_ahead_into_a_value_lands_in_it() -> None:
    async with driven() as world:
        for key in ("s", "1", "full_stop", "3"):
            world.app.post_message(events.Key(key, "." if key == "full_stop" else key))
        await world.settle()
        assert settings_of(world).temperature == 1.3


@pytest.mark.parametrize("moment", ["no model", "reading", "past"])
async def test_the_window_does_not_open_at_a_wrong_moment(moment: str) -> None:
    async with driven(hold=moment == "no model") as world:
        if moment == "reading":
            world.loop.hold = True
            await world.press("t", "x", "enter")
        elif moment == "past":
            await world.press("left_square_bracket")
        await world.press("s")
        assert world.notice
        assert not world.main.editing


async def test_the_window_stays_while_the_loop_runs_and_where_the_context_is_full() -> None:
    async with driven() as world:
        world.loop.steps_a_run = 64 - 5
        await world.press("s", "right", "escape", "a", "s", "right")
        assert settings_of(world).temperature == 1.0
        assert row_of(world, "temperature").startswith("▌")


async def test_a_click_elsewhere_leaves_the_window_its_keys() -> None:
    async with driven() as world:
        await world.press("s")
        await world.pilot.click("#candidates", offset=(5, 3))
        await world.pilot.click("#text", offset=(3, 1))
        await world.press("r", "right")
        assert not world.calls("roll")
        assert not world.calls("look")
        assert settings_of(world).temperature == 0.9
        await world.pilot.click("#candidates", offset=(5, 3))
        await world.press("escape")
        assert not world.main.editing
