"""The settings file: what it says holds, what it can't say is one line with file and key."""

from __future__ import annotations

import json
import math
import os
from typing import TYPE_CHECKING

import pytest

from tests.app.driving import driven
from tokenloop.app.keys import BY_ID
from tokenloop.app.settings_file import FileSettings, SettingsFileError, read_settings
from tokenloop.sampling import PARAMETERS, PRESETS, Grammar, SamplerSettings

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


def read(tmp_path: Path, text: str) -> FileSettings:
    path = tmp_path / "settings.toml"
    path.write_text(text)
    return read_settings(BY_ID, path)


def as_toml(value: object) -> str:
    """A setting's value as a person writes it."""
    if isinstance(value, Grammar):
        return f'{{kind = "{value.kind}", text = "{value.text}"}}'
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {item}" for key, item in value.items()) + "}"
    return json.dumps(value)


CHANGED = SamplerSettings(
    **{
        name: parameter.low if parameter.low != getattr(SamplerSettings(), name) else parameter.high
        for name, parameter in PARAMETERS.items()
    },
    order="transformers",
    stages=("top_k", "temperature"),
    off=("top_k",),
    repeat_last_n=32,
    penalize_prompt=False,
    dry_sequence_breakers=("\n", "|"),
    logit_bias={3: -math.inf, 16570: -2.0},
    bad_words=((1, 2), (3,)),
    grammar=Grammar("regex", "a+"),
)


def test_a_changed_value_is_known_of_every_setting() -> None:
    same = [
        name
        for name in SamplerSettings.__struct_fields__
        if getattr(CHANGED, name) == getattr(SamplerSettings(), name)
    ]
    assert same == []


@pytest.mark.parametrize("name", SamplerSettings.__struct_fields__)
def test_every_setting_of_the_sampler_is_read(tmp_path: Path, name: str) -> None:
    value = getattr(CHANGED, name)
    settings = read(tmp_path, f"[sampler]\n{name} = {as_toml(value)}\n").sampler
    assert settings == SamplerSettings().replace(**{name: value})


def test_a_preset_is_the_base_of_what_else_is_said(tmp_path: Path) -> None:
    settings = read(tmp_path, '[sampler]\ntop_k = 9\npreset = "creative"\n').sampler
    assert settings == PRESETS["creative"].settings.replace(top_k=9)


def test_own_presets_build_on_each_other_and_are_bases_too(tmp_path: Path) -> None:
    file = read(
        tmp_path,
        '[sampler]\npreset = "bolder"\nmin_p = 0.2\n'
        '[presets.bold]\npreset = "transformers"\ntemperature = 1.5\n'
        '[presets.bolder]\npreset = "bold"\ntop_k = 0\n',
    )
    bold = PRESETS["transformers"].settings.replace(temperature=1.5)
    assert file.presets == {"bold": bold, "bolder": bold.replace(top_k=0)}
    assert file.sampler == bold.replace(top_k=0, min_p=0.2)


def test_a_grammar_may_lie_in_a_file_beside_the_settings(tmp_path: Path) -> None:
    (tmp_path / "pair.lark").write_text('start: "a" "b"\n')
    text = '[sampler.grammar]\nkind = "lark"\nfile = "pair.lark"\n'
    assert read(tmp_path, text).sampler.grammar == Grammar("lark", 'start: "a" "b"\n')


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("theme = 1", "theme"),
        ('theme = "pink"', "theme"),
        ("seed = -1", "seed"),
        ('precision = "quick"', "precision"),
        ("threads = 0", "threads"),
        ("threads = true", "threads"),
        ("threads = 1025", "threads: a whole number from 1 to 1024"),
        ("device = 3", "device"),
        ('device = "tpu"', "device: one of auto, cpu, cuda, cuda:N"),
        ('dtype = "int8"', "dtype: one of auto, float32"),
        ("dtype = []", "dtype"),
        ("colour = 1", "colour"),
        ("sampler = 1", "sampler"),
        ("[sampler]\ntemperature = -1", "sampler.temperature"),
        ("[sampler]\ntemperature = nan", "sampler.temperature"),
        ('[sampler]\ntemperature = "hot"', "sampler.temperature"),
        ("[sampler]\nheat = 1", "sampler.heat"),
        ("[sampler]\nlogit_bias = {a = 1}", "sampler.logit_bias"),
        ("[sampler]\nlogit_bias = 3", "sampler.logit_bias"),
        ("[sampler]\nlogit_bias = {1 = 2000}", "sampler.logit_bias: 2000.0 is not possible"),
        ("[sampler]\ntop_k = 1.5", "sampler.top_k: 1.5 is not possible: a whole number from 0"),
        ('[sampler]\nstages = ["top_q"]', "sampler.stages: 'top_q' is not possible: one of "),
        ('[sampler]\nstages = ["top_k", "top_k"]', "sampler.stages"),
        ('[sampler]\nstages = "top_k"', "sampler.stages"),
        ('[sampler]\noff = [["top_k"]]', "sampler.off"),
        ("[sampler]\nbad_words = [1]", "sampler.bad_words"),
        ("[sampler]\nbad_words = [[]]", "sampler.bad_words"),
        ('[sampler]\ndry_sequence_breakers = [""]', "sampler.dry_sequence_breakers"),
        ("[sampler]\npenalize_prompt = 1", "sampler.penalize_prompt"),
        ('[sampler]\npreset = "mine"', "sampler.preset: not a preset; known are llamacpp, "),
        ("[sampler]\npreset = []", "sampler.preset"),
        ('[sampler]\ngrammar = "a"', "sampler.grammar: a table: [sampler.grammar]"),
        (
            '[sampler.grammar]\nkind = "yaml"\ntext = "a"',
            "sampler.grammar.kind: one of json_schema",
        ),
        ('[sampler.grammar]\nkind = "regex"', "sampler.grammar: a kind with either"),
        ('[sampler.grammar]\nkind = "regex"\ntext = ""', "sampler.grammar: '' is not possible"),
        ('[sampler.grammar]\nkind = "regex"\ntext = 3', "sampler.grammar: '3' is not possible"),
        ('[sampler.grammar]\nkind = "regex"\npath = "a"', "sampler.grammar.path: not a key"),
        ('[sampler.grammar]\nkind = "lark"\nfile = "no"', "sampler.grammar.file: no: No such file"),
        ('[sampler.grammar]\nkind = "lark"\nfile = "."', "sampler.grammar.file: . is a directory"),
        ('[sampler.grammar]\nkind = "lark"\nfile = 3', "sampler.grammar.file: a path"),
        ('[sampler.grammar]\nkind = "lark"\nfile = "a\\u0000"', "sampler.grammar.file"),
        ('[sampler.grammar]\nkind = "lark"\nfile = "~nobody/a"', "sampler.grammar.file"),
        ("presets = 1", "presets: a table"),
        ("[presets]\nmine = 1", "presets.mine: a table: [presets.mine]"),
        ("[presets.mine]\nheat = 1", "presets.mine.heat: not a setting"),
        ("[presets.mine]\ntop_p = 7", "presets.mine.top_p: 7 is not possible"),
        ("[presets.greedy]\ntop_k = 7", "presets.greedy: greedy is ready-made"),
        ('[presets."a b"]\ntop_k = 7', "presets.a b: a name of up to 32 letters"),
        ('[presets.a]\npreset = "b"\n[presets.b]', "presets.a.preset: not a preset"),
        (f"seed = {'9' * 5000}", "is not TOML"),
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
    with pytest.raises(SettingsFileError, match="is not UTF-8 at byte 0"):
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
