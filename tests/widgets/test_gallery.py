from __future__ import annotations

import subprocess
import sys

from tokenloop_widgets.gallery import PAGES, SIZES, Gallery
from tokenloop_widgets.recorded import (
    LABORATORY_PATH,
    PATH,
    Recording,
    read,
    read_laboratory,
    save,
    save_laboratory,
)

UNWANTED = ("torch", "numpy", "tokenizers", "tokenloop_models", "tokenloop.sampling")


def test_importing_the_widgets_loads_no_engine() -> None:
    code = (
        "import sys, tokenloop_widgets, tokenloop_widgets.gallery as gallery\n"
        "gallery.read()\n"
        f"print([name for name in {UNWANTED!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


async def test_every_page_moment_and_size_can_be_walked(recording: Recording) -> None:
    app = Gallery(recording)
    async with app.run_test(size=(80, 24)) as pilot:
        for _ in PAGES:
            for _ in range(max(len(recording.moments), len(SIZES))):
                app.action_moment(1)
                app.action_size()
                await pilot.pause()
            await pilot.press("p", "t", "tab")
        await pilot.press("left", "shift+tab", "q")
    assert app.return_code == 0


def test_the_recording_is_a_real_models_and_small(recording: Recording) -> None:
    assert PATH.stat().st_size < 200_000
    choice = recording.moments[0].choice
    assert choice is not None
    assert [one.token.id for one in recording.moments[0].prefix] == [504, 3575, 282, 4617, 314]
    best = choice.candidates[0]
    assert best.id == 16570
    assert abs(best.logit - 13.4248) < 1e-3
    assert abs(choice.entropy_bits - 3.5774) < 1e-3


def test_a_recording_is_read_as_it_was_saved(recording: Recording, tmp_path) -> None:
    path = tmp_path / "again.jsonl"
    save(recording, path)
    assert read(path) == recording
    assert len(path.read_bytes().splitlines()) == len(PATH.read_bytes().splitlines())


def test_the_laboratorys_answers_are_a_real_models_and_small() -> None:
    laboratory = read_laboratory()
    assert LABORATORY_PATH.stat().st_size < 200_000
    assert laboratory.choices[0].candidates[0].id == 16570
    assert [draws.draws for draws in laboratory.draws] == [1_000, 100_000]
    for draws in laboratory.draws:
        assert sum(each.count for each in draws.counts) + draws.rest_count == draws.draws
        assert draws.p_value is not None
        assert draws.p_value > 0.001


def test_the_laboratorys_answers_are_read_as_they_were_saved(tmp_path) -> None:
    path = tmp_path / "again.json"
    save_laboratory(read_laboratory(), path)
    assert read_laboratory(path) == read_laboratory()
