"""The settings file: what it says holds, what it can't say is one line with file and key."""

from __future__ import annotations

import os
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
        '[keys]\nstep = "n, space, shift+ctrl+left, ?"\nnew = "N"\nhelp = "f1"\n'
    )
    read = read_settings(BY_ID, path)
    assert (read.theme, read.seed, read.device, read.threads) == ("light", 3, "cpu", 2)
    assert (read.dtype, read.precision) == ("float32", "fast")
    assert read.sampler.temperature == 0.5
    assert read.sampler.logit_bias == {16570: -2.0}
    assert read.keys == {
        "step": "n,space,ctrl+shift+left,question_mark",
        "new": "N",
        "help": "f1",
    }


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
        ('[keys]\nstep = "x,,y"', "keys.step"),
        ('[keys]\nstep = "nonsense key"', "keys.step: 'nonsense key' is no key"),
        ('[keys]\nstep = "\\u001b"', r"keys.step: '\x1b' is no key"),
        ('[keys]\nstep = "shift+x"', "keys.step: 'shift+x' is no key"),
        ('[keys]\nstep = "space,n"', "keys.step: n is the key of new"),
        ('[keys]\nstep = "["', "keys.step: left_square_bracket is the key of look_back"),
        ('[keys]\nstep = "x"\nrewind = "x"', "keys.rewind: x is the key of step"),
        ('[keys]\nquit = "x"\nstep = "ctrl+q"', "keys.step: ctrl+q is the key of quit"),
        ('[keys]\npalette = "x"\nstep = "ctrl+p"', "keys.step: ctrl+p is the key of palette"),
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


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="a platform without named pipes")
def test_a_pipe_or_a_device_is_refused_at_once(tmp_path: Path) -> None:
    pipe, device = tmp_path / "pipe.toml", tmp_path / "device.toml"
    os.mkfifo(pipe)
    device.symlink_to("/dev/zero")
    for path in (pipe, device):
        with pytest.raises(SettingsFileError, match=r"\.toml: is not a regular file"):
            read_settings(BY_ID, path)


def test_a_file_too_large_for_settings_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text("#" * (1 << 20) + "\n")
    with pytest.raises(SettingsFileError, match="at most 1,048,576"):
        read_settings(BY_ID, path)


async def test_keys_that_changed_hands_each_do_their_new_command(tmp_path: Path) -> None:
    path = tmp_path / "settings.toml"
    path.write_text('[keys]\nstep = "left"\nrewind = "space"\n')
    async with driven(keymap=read_settings(BY_ID, path).keys) as world:
        await world.press("left")
        assert (len(world.calls("step")), len(world.calls("rewind"))) == (1, 0)
        await world.press("space")
        assert (len(world.calls("step")), len(world.calls("rewind"))) == (1, 1)


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
