"""The settings file: what it says holds, what it can't say is one line with file and key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.app.driving import driven
from tokenloop.app.keys import BY_ID
from tokenloop.app.settings_file import FileSettings, SettingsFileError, read_settings

if TYPE_CHECKING:
    from pathlib import Path


def test_no_file_is_the_defaults(tmp_path: Path) -> None:
    assert read_settings(BY_ID, tmp_path / "none.toml") == FileSettings()


def test_every_setting_is_read(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(
        'theme = "light"\nseed = 3\ndevice = "cpu"\ndtype = "float32"\n'
        'precision = "fast"\nthreads = 2\n'
        "[sampler]\ntemperature = 0.5\nlogit_bias = {16570 = -2.0}\n"
        '[keys]\nstep = "n, space"\n'
    )
    read = read_settings(BY_ID, path)
    assert (read.theme, read.seed, read.device, read.threads) == ("light", 3, "cpu", 2)
    assert (read.dtype, read.precision) == ("float32", "fast")
    assert read.sampler.temperature == 0.5
    assert read.sampler.logit_bias == {16570: -2.0}
    assert read.keys == {"step": "n,space"}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("theme = 1", "theme"),
        ('theme = "pink"', "theme"),
        ("seed = -1", "seed"),
        ('precision = "quick"', "precision"),
        ("threads = 0", "threads"),
        ("threads = true", "threads"),
        ("device = 3", "device"),
        ("colour = 1", "colour"),
        ("sampler = 1", "sampler"),
        ("[sampler]\ntemperature = -1", "sampler.temperature"),
        ("[sampler]\ntemperature = nan", "sampler.temperature"),
        ('[sampler]\ntemperature = "hot"', "sampler.temperature"),
        ("[sampler]\nheat = 1", "sampler.heat"),
        ("[sampler]\nlogit_bias = {a = 1}", "sampler.logit_bias"),
        ("[sampler]\nlogit_bias = 3", "sampler.logit_bias"),
        ('[keys]\nfly = "f"', "keys.fly"),
        ("[keys]\nstep = 3", "keys.step"),
        ('[keys]\nstep = ""', "keys.step"),
        ('[keys]\nstep = "a,,b"', "keys.step"),
        ("not toml at all", "is not TOML"),
    ],
)
def test_what_cant_be_is_one_line_with_file_and_key(tmp_path: Path, text: str, key: str) -> None:
    path = tmp_path / "settings.toml"
    path.write_text(text)
    with pytest.raises(SettingsFileError) as caught:
        read_settings(BY_ID, path)
    line = str(caught.value)
    assert str(path) in line
    assert key in line
    assert "\n" not in line


def test_a_file_that_is_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SettingsFileError, match="TOML"):
        read_settings(BY_ID, path)
    with pytest.raises(SettingsFileError, match="directory"):
        read_settings(BY_ID, tmp_path)


async def test_a_remapped_key_works_and_the_old_one_does_not() -> None:
    async with driven(keymap={"step": "x"}) as world:
        await world.press("space")
        assert not world.calls("step")
        await world.press("x")
        assert world.calls("step") == [()]
        assert "x step" in world.footer


async def test_a_remapped_walk_works_with_the_panel_in_focus() -> None:
    async with driven(keymap={"candidate_down": "w"}) as world:
        await world.press("w", "w", "enter")
        assert world.calls("force") == [(2,)]
