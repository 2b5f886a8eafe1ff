"""The laboratory's views: what their keys ask, what they draw, and how they are left."""

from __future__ import annotations

import pytest
from syrupy.assertion import SnapshotAssertion
from syrupy.extensions.image import SVGImageSnapshotExtension
from textual.widgets import Input

from screenshots.svg import tidy
from tests.app.driving import Driven, driven
from tests.app.fake_loop import WORDS, token
from tokenloop.app.safety import UNSAFE
from tokenloop.sampling import SamplerSettings
from tokenloop_widgets import Panel

OPENERS = {
    "v": "through",
    "slash": "found",
    "o": "orders",
    "d": "draws",
    "f": "sweep",
    "W": "watch-list",
}
ASKING = ("slash", "o", "d", "f")
QUESTIONS = ("draws", "sweep", "compare", "find")
PASSES = ("step", "force", "type", "edit", "open", "resample", "run", "check")


def drawn(world: Driven) -> str:
    """The open view's frame and drawing."""
    panel = world.app.screen.query_one(".view-panel", Panel)
    lines = [panel.render_line(row).text for row in range(panel.size.height)]
    return "\n".join([str(panel.border_title), *lines, str(panel.border_subtitle)])


def said(world: Driven) -> str:
    """The line that stands where the view's keys were."""
    shown = world.app.screen.has_class("-notice")
    return str(world.app.screen.query_one("#notice").render()) if shown else ""


def asked(world: Driven, name: str) -> int:
    return len(world.calls(name))


async def write(world: Driven, text: str) -> None:
    """Type into the search."""
    world.app.screen.query_one(Input).value = text
    await world.settle()


# opening and leaving


@pytest.mark.parametrize("key", OPENERS)
async def test_a_key_opens_its_view_and_esc_leaves_it(key: str) -> None:
    async with driven() as world:
        await world.press(key)
        assert world.app.screen.query_one(".view-panel").id == OPENERS[key]
        await world.press("escape")
        assert world.app.screen is world.main


@pytest.mark.parametrize("key", [key for key in OPENERS if key != "slash"])
async def test_the_same_key_leaves_the_view(key: str) -> None:
    async with driven() as world:
        await world.press(key, key)
        assert world.app.screen is world.main


async def test_a_key_of_the_panels_says_in_a_view_that_it_is_theirs() -> None:
    async with driven() as world:
        await world.press("v", "e")
        assert said(world) == "e is a key of the panels: esc goes back to them"
        await world.press("down")
        assert said(world) == ""
        await world.press("d")
        assert said(world).startswith("d is a key of the panels")
        await world.press("f11")
        assert said(world) == ""


async def test_what_is_typed_into_the_search_is_no_key_of_the_panels() -> None:
    async with driven() as world:
        await world.press("slash", "e")
        assert world.app.screen.query_one(Input).value == "e"
        assert said(world) == ""


@pytest.mark.parametrize("key", OPENERS)
async def test_without_a_model_or_a_text_a_view_says_why_not(key: str) -> None:
    async with driven(prompt=None, hold=True) as world:
        await world.press("escape", key)
        assert world.app.screen is world.main
        assert "loading" in world.notice
        world.loop.release()
        await world.settle()
        await world.press(key)
        assert world.app.screen is world.main
        assert "no text yet" in world.notice
        assert not any(world.calls(question) for question in QUESTIONS)


@pytest.mark.parametrize("key", ASKING)
async def test_of_an_earlier_token_nothing_can_be_asked(key: str) -> None:
    async with driven() as world:
        await world.press("space", "left_square_bracket", key)
        assert world.app.screen is world.main
        assert "earlier token" in world.notice


@pytest.mark.parametrize("key", ASKING)
async def test_while_a_text_is_read_nothing_can_be_asked(key: str) -> None:
    async with driven() as world:
        world.loop.hold = True
        world.conductor.type_text(" and so on")
        await world.press(key)
        assert world.app.screen is world.main
        assert "being read" in world.notice


@pytest.mark.parametrize("key", OPENERS)
async def test_with_a_full_context_what_is_held_can_still_be_looked_at(key: str) -> None:
    async with driven() as world:
        world.loop.steps_a_run = 70
        await world.press("a", key)
        assert world.main.view.full
        assert world.app.screen is not world.main
        assert drawn(world).strip()


@pytest.mark.parametrize("key", OPENERS)
async def test_a_view_runs_no_pass(key: str) -> None:
    async with driven() as world:
        before = len(world.loop.calls)
        await world.press("w", key, "down", "right", "minus", "plus", "0", "0", "escape")
        made = {str(call[0]) for call in world.loop.calls[before:]}
        assert made & {"configure", *QUESTIONS, "watch"}
        assert key == "W" or not made & set(PASSES)


@pytest.mark.parametrize("key", OPENERS)
async def test_any_size_survives_and_the_old_one_comes_back(key: str) -> None:
    async with driven() as world:
        await world.press("down", "w", key)
        if key == "slash":
            await write(world, "a")
        before = drawn(world)
        for size in ((80, 24), (30, 8), (5, 3), (1, 1), (300, 90), (140, 40)):
            await world.pilot.resize_terminal(*size)
            await world.settle()
        assert drawn(world) == before


@pytest.mark.parametrize("key", OPENERS)
async def test_hostile_labels_are_only_text(key: str) -> None:
    async with driven() as world:
        for number, word in enumerate(WORDS):
            if "[" in word or not word.isprintable():
                world.conductor.watch(number)
        await world.press("space", "space", key)
        if key == "slash":
            await write(world, "[/nope]")
        picture = world.app.export_screenshot()
        assert not UNSAFE.search(picture.replace("\n", ""))


# questions and answers


async def test_a_view_says_that_it_computes_and_esc_works_meanwhile() -> None:
    async with driven() as world:
        world.loop.hold = True
        await world.press("d")
        assert "computing" in drawn(world)
        await world.press("escape")
        assert world.app.screen is world.main


async def test_one_question_is_in_flight_and_the_newest_wish_is_next() -> None:
    async with driven() as world:
        world.loop.hold = True
        await world.press("d", "2", "3")
        assert world.calls("draws") == [(1_000,)]
        world.loop.release()
        await world.settle()
        assert world.calls("draws") == [(1_000,), (100_000,)]
        assert "100,000 draws" in drawn(world)


async def test_a_late_answer_to_another_question_is_dropped() -> None:
    async with driven() as world:
        await world.press("f")
        world.loop.hold = True
        await world.press("down", "down")
        assert world.calls("sweep") == [("temperature",), ("top_p",)]
        world.loop._waiting.pop(0)()
        await world.settle()
        assert "computing" in drawn(world)
        assert "against top-p" not in drawn(world)
        assert world.calls("sweep")[-1] == ("min_p",)


async def test_an_answer_to_a_view_that_was_left_reaches_no_other() -> None:
    async with driven() as world:
        world.loop.hold = True
        await world.press("d", "escape", "o")
        world.loop.release()
        await world.settle()
        assert world.app.screen.query_one(".view-panel").id == "orders"
        assert "total variation" in drawn(world)


async def test_a_failed_question_is_told_and_not_put_again() -> None:
    async with driven() as world:
        world.loop.fail_next = "a stage leaves no candidate [/nope]"
        await world.press("o")
        assert said(world) == "a stage leaves no candidate [/nope]"
        await world.settle()
        assert asked(world, "compare") == 1
        assert "llama.cpp order | transformers order · no answer" in drawn(world)


@pytest.mark.parametrize(("key", "question"), [("o", "compare"), ("d", "draws"), ("f", "sweep")])
async def test_where_the_newest_question_fails_no_older_answer_stays(
    key: str, question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with driven() as world:
        await world.press(key)
        ask = getattr(world.loop, question)

        def failing(*arguments: object) -> int:
            world.loop.fail_next = "a stage leaves no candidate"
            return int(ask(*arguments))

        monkeypatch.setattr(world.loop, question, failing)
        await world.press("minus")
        assert "no answer: this can't be computed" in drawn(world)
        assert "computing" not in drawn(world)


@pytest.mark.parametrize(("key", "question"), [("o", "compare"), ("d", "draws"), ("f", "sweep")])
async def test_what_changes_under_an_open_view_is_asked_anew(key: str, question: str) -> None:
    async with driven() as world:
        await world.press(key)
        made = asked(world, question)
        await world.press("minus")
        assert asked(world, question) == made + 1
        await world.press("tab" if key == "o" else "right")
        assert asked(world, question) == made + 1


async def test_a_run_goes_on_under_a_view_that_follows_it() -> None:
    async with driven() as world:
        await world.press("d")
        world.conductor.run(2)
        await world.settle()
        assert asked(world, "draws") >= 2
        assert world.app.screen.query_one(".view-panel").id == "draws"


# each view


async def test_through_shows_the_past_too() -> None:
    async with driven() as world:
        await world.press("space", "left_square_bracket", "v")
        assert f"how {world.labels[-1]} was chosen" in drawn(world)
        await world.press("down", "enter")
        assert "earlier token" in said(world)
        assert not world.calls("force")


async def test_through_asks_for_more_candidates_as_it_is_walked() -> None:
    async with driven() as world:
        await world.press("v", *["down"] * 9)
        assert world.calls("show")


async def test_enter_takes_the_highlighted_candidate() -> None:
    async with driven() as world:
        await world.press("v", "enter")
        assert "no candidate is highlighted" in said(world)
        await world.press("home", "down", "enter")
        assert world.app.screen is world.main
        assert len(world.calls("force")) == 1


async def test_search_finds_while_it_is_typed_and_takes_by_a_second_enter() -> None:
    async with driven() as world:
        await world.press("slash", *"Perth")
        assert world.calls("find")[-1] == ("Perth",)
        assert "1 token found by text" in drawn(world)
        await world.press("enter")
        assert not world.calls("force")
        await world.press("w", "enter")
        perth = next(n for n in range(len(WORDS)) if token(n).text == " Perth")
        assert world.calls("watch") == [(perth,)]
        assert world.calls("force") == [(perth,)]
        assert world.app.screen is world.main


async def test_search_tells_of_what_it_found_and_not_of_the_draw_that_is_not_listed() -> None:
    async with driven() as world:
        await world.press("slash", *"Perth")
        assert "␣Perth  id " in drawn(world)
        assert "␣Sydney" not in drawn(world)


async def test_search_says_what_it_found_nothing_of() -> None:
    async with driven() as world:
        await world.press("slash")
        assert "0x20 41" in drawn(world)
        await write(world, "#99999")
        assert "no token of the vocabulary is that" in drawn(world)
        await world.press("enter", "down", "enter", "w")
        assert not world.calls("force")


async def test_orders_compare_ones_own_settings_in_both_and_any_presets() -> None:
    async with driven(presets={"mine": SamplerSettings(top_k=3)}) as world:
        await world.press("plus", "o")
        (left, right) = world.calls("compare")[-1]
        assert (left[0], left[1].order) == ("llama.cpp order", "llamacpp")
        assert (right[0], right[1].order) == ("transformers order", "transformers")
        assert left[1].temperature == right[1].temperature == 0.9
        await world.press("right", "right", "tab", "left", "left")
        (left, right) = world.calls("compare")[-1]
        assert left[0] == "yours"
        assert (right[0], right[1].top_k) == ("mine", 3)


async def test_many_draws_are_drawn_on_opening_and_more_by_a_key() -> None:
    async with driven() as world:
        await world.press("d")
        assert world.calls("draws") == [(1_000,)]
        assert "the draws agree with the display" in drawn(world)
        await world.press("3", "down")
        assert world.calls("draws")[-1] == (100_000,)
        assert "of 100,000 draws" in drawn(world)


async def test_many_draws_say_that_they_share_xtcs_chance() -> None:
    async with driven() as world:
        await world.press("d")
        assert "chance stays" not in drawn(world)
        world.conductor.configure(SamplerSettings(xtc_probability=0.5))
        await world.settle()
        assert "XTC's chance stays 0.63 in all of them: it acts in none" in drawn(world)


async def test_greedy_draws_nothing_and_asks_nothing() -> None:
    async with driven() as world:
        await world.press("0", "d")
        assert not world.calls("draws")
        assert "nothing is drawn" in drawn(world)
        await world.press("plus")
        assert world.calls("draws") == [(1_000,)]


async def test_sweep_walks_settings_and_sets_the_value_under_the_cursor() -> None:
    async with driven() as world:
        await world.press("f")
        assert "against temperature" in drawn(world)
        await world.press("right", "right", "enter")
        settings = world.calls("configure")[-1][0]
        assert settings.temperature > 0.8
        await world.press("up", "enter")
        assert "against top-k" in drawn(world)
        assert isinstance(world.conductor.settings.top_k, int)


async def test_sweep_leaves_out_what_no_stage_of_the_chain_has() -> None:
    async with driven() as world:
        world.conductor.configure(SamplerSettings(stages=("top_k", "min_p"), off=("min_p",)))
        await world.settle()
        await world.press("f", "down", "down", "down")
        assert {setting for (setting,) in world.calls("sweep")} == {"top_k"}
        assert "against top-k" in drawn(world)


async def test_sweep_says_that_no_stage_has_a_number() -> None:
    async with driven() as world:
        world.conductor.configure(SamplerSettings(stages=("logit_bias",)))
        await world.settle()
        await world.press("f", "down", "enter")
        assert not world.calls("sweep")
        assert "no stage that has a number runs" in drawn(world)


async def test_of_an_earlier_token_the_marked_one_there_is_pinned() -> None:
    async with driven() as world:
        await world.press("space", "space", "left_square_bracket", "left_square_bracket")
        then = world.conductor.view().then_record
        assert then is not None
        now = world.conductor.snapshot
        assert now is not None
        assert now.choice is not None
        assert then.chosen.id != now.choice.chosen.id
        await world.press("w", "v", "w")
        assert world.calls("watch") == [(then.chosen.id,), (then.chosen.id,)]


async def test_pins_come_and_go() -> None:
    async with driven() as world:
        await world.press("W")
        assert "nothing is pinned" in drawn(world)
        await world.press("escape", "down", "w", "W")
        assert "1 token" in drawn(world)
        await world.press("space", "down", "w")
        assert "nothing is pinned" in drawn(world)
        assert len(world.calls("watch")) == 2
        assert len(world.calls("step")) == 1


@pytest.mark.parametrize(
    ("key", "first"), [("v", "␣Sydney"), ("d", "␣Sydney"), ("o", "␣Sydney"), ("W", "␣Perth")]
)
async def test_a_click_highlights_a_row(key: str, first: str) -> None:
    async with driven() as world:
        world.conductor.watch(3)
        await world.press(key)
        panel = world.app.screen.query_one(".view-panel", Panel)
        rows = [panel.render_line(row).text for row in range(panel.size.height)]
        starts = [n for n, row in enumerate(rows) if first in row and "%" in row]
        line = starts[1] if key == "d" else starts[0]  # the first one tells of it in words
        await world.pilot.click(panel, offset=(20, line + 1))
        await world.settle()
        assert panel.render_line(line).text.startswith("▌")
        assert panel.highlighted.label == first


# pictures


@pytest.fixture
def picture(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    return snapshot.use_extension(SVGImageSnapshotExtension)


async def answered(world: Driven) -> None:
    """Until the view has the answer to its last question: keys for its panel do nothing before."""
    inquiry = getattr(world.app.screen, "_inquiry", None)
    while inquiry is not None and inquiry.waiting:
        await world.settle()


@pytest.mark.parametrize("size", [(140, 40), (80, 24)])
@pytest.mark.parametrize("key", OPENERS)
async def test_pictures(picture: SnapshotAssertion, key: str, size: tuple[int, int]) -> None:
    async with driven(size=size) as world:
        await world.press("space", "down", "w", "down", "w", "space", "space", key)
        if key == "slash":
            world.app.screen.query_one(Input).cursor_blink = False
            await write(world, "a")
        sideways = {"o": ["tab", "right", "right", "right"], "d": []}.get(key, ["right", "right"])
        await world.press("down", "down")
        await answered(world)
        await world.press(*sideways)
        await answered(world)
        assert tidy(world.app.export_screenshot(title="tokenloop")) == picture
