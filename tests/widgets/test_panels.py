"""The panels in an app: keys, clicks, messages, titles, what lands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec import structs

from tests.widgets.stage import Stage
from tests.widgets.strips import check
from tokenloop.records import Choice, PrefixToken, Token
from tokenloop_widgets import (
    THEMES,
    CachePanel,
    CandidatesPanel,
    ComparisonPanel,
    DrawsPanel,
    Key,
    KeyBar,
    LatencyPanel,
    Panel,
    SamplerPanel,
    StageList,
    StatusBar,
    SummaryPanel,
    SweepPanel,
    TabsLine,
    TextPanel,
    ThroughPanel,
    WatchPanel,
    palette_of,
)

if TYPE_CHECKING:
    from tokenloop_widgets.recorded import Recording

ALL = (
    TextPanel,
    CandidatesPanel,
    SamplerPanel,
    CachePanel,
    LatencyPanel,
    SummaryPanel,
    StatusBar,
    KeyBar,
    ThroughPanel,
    ComparisonPanel,
    DrawsPanel,
    SweepPanel,
    WatchPanel,
    StageList,
    TabsLine,
)


def now(recording: Recording, moment: int = 0) -> Choice:
    choice = recording.moments[moment].choice
    assert choice is not None
    return choice


@pytest.mark.parametrize("kind", ALL)
async def test_every_panel_survives_every_size_with_nothing_to_show(kind: type[Panel]) -> None:
    app = Stage(kind())
    async with app.run_test(size=(140, 40)) as pilot:
        for size in ((20, 5), (3, 3), (2, 1), (1, 1)):
            await pilot.resize_terminal(*size)
            await pilot.press("down", "pagedown", "end", "enter")
            drawn = [app.panel.render_line(y) for y in range(app.panel.size.height)]
            check(drawn, *app.panel.size)


async def test_show_before_mounting_is_drawn_after_it(recording: Recording) -> None:
    panel = SamplerPanel()
    panel.show(now(recording))
    app = Stage(panel)
    async with app.run_test(size=(100, 30)):
        assert any("temperature" in line for line in app.drawn())


async def test_a_panel_draws_once_a_change(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = CandidatesPanel()
    app = Stage(panel)
    drawings = 0
    draw = panel.draw

    def counted(*size: Any) -> Any:
        nonlocal drawings
        drawings += 1
        return draw(*size)

    async with app.run_test(size=(100, 30)) as pilot:
        monkeypatch.setattr(panel, "draw", counted)
        panel.show(now(recording))
        await pilot.pause()
        app.drawn()
        app.drawn()
        assert drawings == 1


async def test_a_change_of_theme_is_drawn_in_its_colours(recording: Recording) -> None:
    panel = CachePanel()
    app = Stage(panel)
    async with app.run_test(size=(80, 12)) as pilot:
        panel.show(recording.moments[0].cache)
        dark = palette_of(app)
        app.theme = THEMES[1].name
        await pilot.pause()
        assert palette_of(app) != dark
        behind = {segment.style.bgcolor.name for segment in panel.render_line(0)}
        assert behind == {palette_of(app).ground.lower()}


async def test_the_cursor_starts_at_the_chosen_and_walks(recording: Recording) -> None:
    panel = CandidatesPanel()
    app = Stage(panel)
    choice = now(recording)
    ids = [candidate.id for candidate in choice.candidates]
    async with app.run_test(size=(100, 12)) as pilot:
        panel.show(choice)
        assert panel.highlighted is None
        start = ids.index(choice.chosen.id)
        for keys, index in (
            ("down", start + 1),
            ("j", start + 2),
            ("k", start + 1),
            ("up", start),
            ("home", 0),
            ("up", 0),
            ("pagedown", 7),
            ("pageup", 0),
            ("end", len(ids) - 1),
        ):
            await pilot.press(keys)
            assert panel.highlighted == ids[index], keys
        said = [m.id for m in app.said if isinstance(m, CandidatesPanel.Highlighted)]
        assert said[-1] == ids[-1]
        assert any(line.startswith("▌") for line in app.drawn())


async def test_the_cursor_stays_in_view_when_the_panel_shrinks_or_was_hidden(
    recording: Recording,
) -> None:
    panel = CandidatesPanel()
    app = Stage(panel)
    choice = now(recording)
    async with app.run_test(size=(100, 30)) as pilot:
        panel.display = False
        await pilot.pause()
        panel.show(choice)
        panel.action_move(1)
        panel.display = True
        await pilot.pause()
        assert "␣Sydney" in app.drawn()[1]
        await pilot.press(*["down"] * 15)
        await pilot.resize_terminal(100, 12)
        await pilot.pause()
        assert sum(line.startswith("▌") for line in app.drawn()) == 1
        assert panel.border_subtitle is not None
        assert "candidates" in panel.border_subtitle


async def test_enter_takes_the_highlighted_or_the_chosen(recording: Recording) -> None:
    panel = CandidatesPanel()
    app = Stage(panel)
    choice = now(recording)
    async with app.run_test(size=(100, 20)) as pilot:
        panel.show(choice)
        await pilot.press("enter", "home", "down", "enter")
        taken = [m.id for m in app.said if isinstance(m, CandidatesPanel.Pressed)]
        assert taken == [choice.chosen.id, choice.candidates[1].id]


async def test_a_click_highlights_and_a_second_takes(recording: Recording) -> None:
    panel = CandidatesPanel()
    app = Stage(panel)
    choice = now(recording)
    async with app.run_test(size=(100, 20)) as pilot:
        panel.show(choice)
        await pilot.pause()
        await pilot.click(panel, offset=(10, 4))
        assert panel.highlighted == choice.candidates[2].id
        assert not any(isinstance(m, CandidatesPanel.Pressed) for m in app.said)
        await pilot.click(panel, offset=(10, 4))
        assert [m.id for m in app.said if isinstance(m, CandidatesPanel.Pressed)] == [
            choice.candidates[2].id
        ]


async def test_another_position_puts_the_cursor_away_a_roll_does_not(
    recording: Recording,
) -> None:
    panel = CandidatesPanel()
    app = Stage(panel)
    choice = now(recording)
    async with app.run_test(size=(100, 20)) as pilot:
        panel.show(choice)
        await pilot.press("down")
        panel.show(structs.replace(choice, draw=structs.replace(choice.draw, attempt=1)))
        assert panel.highlighted is not None
        panel.show(structs.replace(choice, position=choice.position + 1))
        assert panel.highlighted is None


async def test_more_candidates_are_asked_for_once_near_the_end(recording: Recording) -> None:
    panel = CandidatesPanel()
    app = Stage(panel)
    choice = now(recording)
    held = len(choice.candidates)

    def wishes() -> list[int]:
        return [m.count for m in app.said if isinstance(m, CandidatesPanel.NeedMore)]

    async with app.run_test(size=(100, 12)) as pilot:
        panel.show(choice)
        await pilot.press("down")
        assert wishes() == []
        await pilot.press("end", "end", "up", "down")
        assert len(wishes()) == 1
        assert wishes()[0] > held
        more = tuple(
            structs.replace(choice.candidates[-1], id=10**6 + n, rank=held + 1 + n)
            for n in range(wishes()[0] - held)
        )
        panel.show(structs.replace(choice, candidates=(*choice.candidates, *more)))
        assert panel.highlighted == choice.candidates[-1].id
        await pilot.press("end")
        assert len(wishes()) == 2


async def test_titles_say_which_moment_it_is(recording: Recording) -> None:
    panel = CandidatesPanel()
    app = Stage(panel)
    forced, given = recording.moments[7].record, recording.moments[8].record
    assert forced is not None
    assert given is not None
    async with app.run_test(size=(100, 20)):
        panel.show(now(recording), after=recording.moments[0].prefix[-1].token)
        assert panel.border_title == "next token"
        assert panel.border_subtitle == "49,152 candidates · 3.58 bits · after ␣is"
        panel.show(forced, then=forced.token)
        assert panel.border_title == "how ␣Canberra was chosen"
        panel.show(given, then=given.token)
        assert panel.border_title == "␣Australia was given"


async def test_titles_are_never_markup_and_whole_items(recording: Recording) -> None:
    panel = CandidatesPanel()
    app = Stage(panel)
    token = Token(id=1, text="[/nope]", bytes_hex="00", label="[/nope][@click=quit]")
    async with app.run_test(size=(34, 20)) as pilot:
        panel.show(now(recording), after=token, then=token)
        await pilot.pause()
        screen = app.export_screenshot()
        assert "[/nope]" in screen
        assert panel._border_subtitle is not None
        assert panel._border_subtitle.plain == "49,152 candidates"


async def test_what_landed_is_marked_for_a_moment(
    recording: Recording, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = TextPanel()
    app = Stage(panel)
    moment = recording.moments[3]

    def marked() -> set[str]:
        soft = palette_of(app).sampler_soft.lower()
        return {
            segment.text
            for segment in panel.render_line(0)
            if segment.style is not None
            and segment.style.bgcolor is not None
            and segment.style.bgcolor.name == soft
        }

    monkeypatch.setattr("tokenloop_widgets.panel.LANDED_SECONDS", 0.05)
    async with app.run_test(size=(100, 8)) as pilot:
        app.animation_level = "full"
        panel.show(moment.prefix, landed=1)
        assert marked() == {moment.prefix[-1].token.label}
        await pilot.pause(0.2)
        assert marked() == set()
        app.animation_level = "none"
        panel.show(moment.prefix, landed=1)
        assert marked() == set()


async def test_a_click_says_which_token(recording: Recording) -> None:
    panel = TextPanel()
    app = Stage(panel)
    async with app.run_test(size=(100, 8)) as pilot:
        panel.show(recording.moments[0].prefix)
        await pilot.pause()
        await pilot.click(panel, offset=(8, 1))
        await pilot.click(panel, offset=(80, 1))
        assert [m.position for m in app.said if isinstance(m, TextPanel.TokenPressed)] == [1]


async def test_the_end_stays_in_view_and_the_cursor_when_looking_back() -> None:
    panel = TextPanel()
    app = Stage(panel)
    prefix = tuple(
        PrefixToken(
            token=Token(id=n, text=str(n), bytes_hex="00", label=f"<{n}>"),
            how="drawn",
            p=0.5,
            rank=1,
        )
        for n in range(2000)
    )
    async with app.run_test(size=(60, 8)) as pilot:
        panel.show(prefix)
        assert "<1999>" in "".join(app.drawn())
        panel.show(prefix, cursor=3)
        assert "[<3>]" in "".join(app.drawn())
        panel.show((*prefix, structs.replace(prefix[0])))
        assert "<0>" in "".join(app.drawn())
        await pilot.press("pageup", "up", "up")
        assert "<1999>" not in "".join(app.drawn())
        await pilot.press(*["pagedown"] * 3)
        assert "<1999>" in "".join(app.drawn())


async def test_a_clicked_summary_line_and_key_say_what_they_are() -> None:
    app = Stage(SummaryPanel())
    async with app.run_test(size=(80, 6)) as pilot:
        await pilot.click(app.panel, offset=(10, 2))
        assert [m.panel for m in app.said if isinstance(m, SummaryPanel.Pressed)] == ["cache"]
    bar = KeyBar()
    app = Stage(bar)
    async with app.run_test(size=(40, 3)) as pilot:
        bar.show([Key("space", "step", "step"), Key("r", "roll", "roll")])
        await pilot.pause()
        await pilot.click(bar, offset=(14, 0))
        await pilot.click(bar, offset=(30, 0))
        assert [m.action for m in app.said if isinstance(m, KeyBar.Pressed)] == ["roll"]
