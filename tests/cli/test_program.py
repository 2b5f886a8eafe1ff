"""The program's shape: commands beside a MODEL, one line for every fault, imports kept light."""

from __future__ import annotations

import math
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tokenloop import __version__
from tokenloop.sampling import ORDERS, PARAMETERS, PRESETS, SamplerSettings


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, dict[str, Any]]]:
    """Pretend that there is a terminal, and collect what the app is opened with."""
    calls: list[tuple[Any, dict[str, Any]]] = []

    def run_app(source: Any, **options: Any) -> int:
        calls.append((source, options))
        return 0

    monkeypatch.setattr("tokenloop.app.run_app", run_app)
    monkeypatch.setattr("tokenloop.cli.start.on_a_terminal", lambda: True)
    return calls


@pytest.mark.parametrize(
    "arguments", [["--help"], ["--version"], ["sample", "--help"], ["completion", "bash"], []]
)
def test_light_commands_import_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys\n"
        "from tokenloop.cli.program import run_program\n"
        f"run_program({arguments!r})\n"
        "heavy = ('torch', 'numpy', 'textual', 'rich', 'tokenizers')\n"
        "print([m for m in heavy if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr.splitlines()[-1] == "[]"


def test_without_a_terminal_one_line_points_to_run(cli: Cli) -> None:
    ended = cli("smollm2")
    assert ended.code == 2
    assert ended.out == ""
    assert re.fullmatch(r"tokenloop: .*tokenloop run\n", ended.err)


def test_a_terminal_without_a_screen_points_to_run(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    for stream in ("stdin", "stdout"):
        monkeypatch.setattr(f"sys.{stream}.isatty", lambda: True)
    monkeypatch.setenv("TERM", "dumb")
    ended = cli("smollm2")
    assert (ended.code, ended.out) == (2, "")
    assert re.fullmatch(r"tokenloop: TERM=dumb .*tokenloop run\n", ended.err)


def test_the_package_runs_as_a_module(cli: Cli) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tokenloop", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == cli("--version").out


def test_version_is_the_packages(cli: Cli) -> None:
    assert cli("--version").out == f"tokenloop {__version__}\n"


def test_no_argument_opens_the_default_model(opened: list[Any], cli: Cli) -> None:
    assert cli().code == 0
    assert [source for source, _ in opened] == ["smollm2"]


@pytest.mark.parametrize(
    ("arguments", "source"),
    [
        (["a/folder/of/mine"], "a/folder/of/mine"),
        (["./run"], "./run"),
        (["--seed", "3", "x.gguf"], "x.gguf"),
        (["x.gguf", "--seed", "3"], "x.gguf"),
        (["open"], "open"),
    ],
)
def test_what_is_no_command_is_a_model(
    opened: list[Any], cli: Cli, arguments: list[str], source: str
) -> None:
    assert cli(*arguments).code == 0
    assert [given for given, _ in opened] == [source]


def test_options_reach_the_app(opened: list[Any], cli: Cli) -> None:
    options = "--device cpu --dtype float32 --precision fast --threads 2 --seed 11 --top-k 3"
    options += " --order transformers"
    cli("-p", "Once upon", "--theme", "light", "--logit-bias", "5=-inf", *options.split())
    [(_, given)] = opened
    assert given == {
        "device": "cpu",
        "dtype": "float32",
        "precision": "fast",
        "threads": 2,
        "seed": 11,
        "prompt": "Once upon",
        "theme": "light",
        "keymap": {},
        "presets": {},
        "settings": SamplerSettings(top_k=3, order="transformers", logit_bias={5: -float("inf")}),
    }


def test_the_settings_file_holds_until_the_command_line_says_otherwise(
    opened: list[Any], cli: Cli, settings_folder: Path
) -> None:
    (settings_folder / "settings.toml").write_text(
        'theme = "light"\nseed = 21\ndevice = "cpu"\n'
        '[sampler]\ntop_k = 9\ntemperature = 0.5\n[keys]\nstep = "x"\n'
    )
    cli("--temperature", "1.5")
    [(_, given)] = opened
    assert given["theme"] == "light"
    assert given["keymap"] == {"step": "x"}
    assert given["seed"] == 21
    assert given["device"] == "cpu"
    assert given["settings"] == SamplerSettings(top_k=9, temperature=1.5)


def test_a_broken_settings_file_is_one_line_that_names_the_key(
    opened: list[Any], cli: Cli, settings_folder: Path
) -> None:
    (settings_folder / "settings.toml").write_text("[sampler]\ntop_p = 7\n")
    ended = cli()
    assert (ended.code, opened) == (1, [])
    assert re.fullmatch(r"tokenloop: .*settings\.toml: sampler\.top_p: .*\n", ended.err)


def test_greedy_is_temperature_zero(opened: list[Any], cli: Cli) -> None:
    cli("--greedy")
    [(_, given)] = opened
    assert given["settings"].temperature == 0


def changed(arguments: str, opened: list[Any], cli: Cli) -> SamplerSettings:
    """The settings that the app opens with."""
    assert cli(*arguments.split()).code == 0
    [(_, given)] = opened
    opened.clear()
    return given["settings"]


@pytest.mark.parametrize("name", PARAMETERS)
def test_every_number_is_an_option(name: str, opened: list[Any], cli: Cli) -> None:
    parameter, default = PARAMETERS[name], SamplerSettings()
    low, high = parameter.low, parameter.high
    value = low if low != getattr(default, name) else high
    given = changed(f"--{name.replace('_', '-')} {value}", opened, cli)
    assert given == default.replace(**{name: value})


@pytest.mark.parametrize(
    ("arguments", "changes"),
    [
        ("--stages min_p,temperature", {"stages": ("min_p", "temperature")}),
        ("--off top_k,min_p --off top_p", {"off": ("top_k", "min_p", "top_p")}),
        ("--repeat-last-n -1", {"repeat_last_n": -1}),
        ("--no-penalize-prompt", {"penalize_prompt": False}),
        ("--dry-sequence-breaker none", {"dry_sequence_breakers": ()}),
        (
            r"--dry-sequence-breaker \n --dry-sequence-breaker a\\n",
            {"dry_sequence_breakers": ("\n", "a\\n")},
        ),
        ("--ban 5 --ban 6", {"logit_bias": {5: -math.inf, 6: -math.inf}}),
        ("--ban 5 --logit-bias 7=2", {"logit_bias": {5: -math.inf, 7: 2.0}}),
        ("--bad-words 1,2;3", {"bad_words": ((1, 2), (3,))}),
    ],
)
def test_what_is_no_number_has_its_option(
    arguments: str, changes: dict[str, Any], opened: list[Any], cli: Cli
) -> None:
    assert changed(arguments, opened, cli) == SamplerSettings().replace(**changes)


def test_a_preset_comes_before_the_file_and_below_what_else_is_given(
    opened: list[Any], cli: Cli, settings_folder: Path
) -> None:
    (settings_folder / "settings.toml").write_text(
        '[sampler]\ntop_k = 9\n[presets.mine]\npreset = "precise"\nmin_p = 0.5\n'
    )
    precise = PRESETS["precise"].settings
    assert changed("--preset precise", opened, cli) == precise
    assert changed("--preset precise --top-k 7", opened, cli) == precise.replace(top_k=7)
    assert changed("--preset mine", opened, cli) == precise.replace(min_p=0.5)


def test_the_app_gets_ones_own_presets(opened: list[Any], cli: Cli, settings_folder: Path) -> None:
    (settings_folder / "settings.toml").write_text("[presets.mine]\ntop_k = 9\n")
    cli()
    [(_, given)] = opened
    assert given["presets"] == {"mine": SamplerSettings(top_k=9)}


def test_what_the_file_switches_off_can_be_switched_on(
    opened: list[Any], cli: Cli, settings_folder: Path
) -> None:
    (settings_folder / "settings.toml").write_text('[sampler]\noff = ["top_k"]\n')
    assert changed("", opened, cli).off == ("top_k",)
    assert changed("--off none", opened, cli).off == ()


def test_an_order_that_is_asked_for_is_the_one_that_runs(
    opened: list[Any], cli: Cli, settings_folder: Path
) -> None:
    (settings_folder / "settings.toml").write_text('[sampler]\nstages = ["min_p"]\n')
    assert changed("", opened, cli).chain == ("min_p",)
    assert changed("--order transformers", opened, cli).chain == ORDERS["transformers"]
    both = changed("--order transformers --stages top_k", opened, cli)
    assert (both.order, both.chain) == ("transformers", ("top_k",))


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        (["--no-such-option"], "--no-such-option"),
        (["smollm2", "another"], "another"),
        (["--seed", "1", "run"], "the command comes first: tokenloop run"),
        (["run"], "-p TEXT"),
        (["run", "-p", "x", "--ids", "1"], "-p TEXT"),
        (["run", "--ids", "1,two"], "--ids"),
        (["run", "--ids", "-1"], "--ids"),
        (["run", "--ids", "1,,2"], "--ids"),
        (["run", "--ids", "1,2,"], "--ids"),
        (["run", "--ids", ",1"], "--ids"),
        (["run", "--ids", "1 , , 2"], "--ids"),
        (["run", "--ids", " "], "--ids"),
        (["run", "--ids", "٣"], "--ids"),
        (["run", "--ids", "9" * 5000], "--ids"),
        (["run", "-p", "x", "--steps", "0"], "--steps"),
        (["run", "-p", "x", "--temperature", "nan"], "temperature"),
        (["run", "-p", "x", "--temperature", "-1"], "temperature"),
        (["run", "-p", "x", "--top-p", "1.5"], "top_p"),
        (["run", "-p", "x", "--repeat-penalty", "0"], "repeat_penalty"),
        (["run", "-p", "x", "--seed", str(2**64)], "seed"),
        (["run", "-p", "x", "--greedy", "--temperature", "1"], "--greedy"),
        (["run", "-p", "x", "--logit-bias", "5"], "--logit-bias"),
        (["run", "-p", "x", "--logit-bias", "5=nan"], "logit_bias"),
        (["run", "-p", "x", "--ban", "-1"], "--ban"),
        (["run", "-p", "x", "--ban", "two"], "--ban"),
        (["run", "-p", "x", "--bad-words", "1,2;"], "--bad-words"),
        (["run", "-p", "x", "--bad-words", "one"], "--bad-words"),
        (["run", "-p", "x", "--off", "top_q"], "off = 'top_q'"),
        (["run", "-p", "x", "--stages", "top_k,top_k"], "stages = 'top_k'"),
        (["run", "-p", "x", "--stages", ""], "stages = ''"),
        (["run", "-p", "x", "--preset", "mine"], "'mine' is no preset: there are llamacpp, "),
        (["run", "-p", "x", "--mirostat", "1"], "mirostat = 1"),
        (["run", "-p", "x", "--top-k", "1.5"], "--top-k"),
        (["run", "-p", "x", "--dry-sequence-breaker", ""], "dry_sequence_breakers"),
        (["run", "-p", "x", "--regex", "a", "--json-schema", "b"], "not several"),
        (["run", "-p", "x", "--device", "tpu"], "--device"),
        (["run", "-p", "x", "--threads", "0"], "--threads"),
        (["completion", "tcsh"], "tcsh"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(cli: Cli, arguments: list[str], names: str) -> None:
    ended = cli(*arguments)
    assert ended.code == 2
    assert ended.out == ""
    assert ended.err.startswith("tokenloop: ")
    assert ended.err.count("\n") == 1
    assert names in ended.err


def test_an_argument_cannot_drive_the_terminal(cli: Cli) -> None:
    ended = cli("run", "\x1b]0;title\x07\n\x1b[31m", "-p", "x")
    assert ended.code == 1
    assert ended.err[:-1].isprintable()
    assert ended.err.endswith("\n")


def test_the_unexpected_is_one_line_unless_asked_for_more(
    opened: list[Any], cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    def burst(*_: Any, **__: Any) -> int:
        raise RuntimeError("something\nburst")

    monkeypatch.setattr("tokenloop.app.run_app", burst)
    ended = cli()
    assert ended.code == 1
    assert ended.err == (
        "tokenloop: unexpected RuntimeError: something burst (TOKENLOOP_DEBUG=1 shows where)\n"
    )
    monkeypatch.setenv("TOKENLOOP_DEBUG", "1")
    with pytest.raises(RuntimeError, match="burst"):
        cli()


@pytest.mark.parametrize("command", [(), ("run",), ("sample",)])
def test_help_names_every_number_with_its_default_and_range(
    cli: Cli, command: tuple[str, ...]
) -> None:
    told = " ".join(cli(*command, "--help").out.split())
    for name, parameter in PARAMETERS.items():
        option = f"--{name.replace('_', '-')}"
        default = getattr(SamplerSettings(), name)
        assert re.search(rf" {option} [NX] .*?\(default {default:g}; .*?{parameter.low:g}", told)
    assert "(default llamacpp)" in told


def test_help_stands_in_sections(cli: Cli) -> None:
    told = cli("run", "--help").out
    headings = re.findall(r"^(\S.*):$", told, re.MULTILINE)
    assert headings[0] == "Options"
    assert {"Sampler", "Sampler: cuts", "Where and how it runs"} <= set(headings)
    assert len(headings) == len(set(headings))
    cuts = told.partition("Sampler: cuts:")[2].partition("\n\n")[0]
    assert "--min-p" in cuts
    assert "--seed" not in cuts


def test_help_lists_every_command_and_the_apps_options(cli: Cli) -> None:
    told = cli("--help").out
    for word in ("run", "models", "pull", "doctor", "completion", "--theme", "--top-k", "MODEL"):
        assert word in told


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_for_the_shell(cli: Cli, shell: str) -> None:
    ended = cli("completion", shell)
    assert ended.code == 0
    assert "_TOKENLOOP_COMPLETE" in ended.out


def completions(words: str, position: int) -> list[str]:
    """What the shell would be offered for the word at this position."""
    done = subprocess.run(
        [sys.executable, "-c", "from tokenloop.cli import main; main()"],
        env={
            **os.environ,
            "_TOKENLOOP_COMPLETE": "bash_complete",
            "COMP_WORDS": words,
            "COMP_CWORD": str(position),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return [line.split(",", 1)[1] for line in done.stdout.splitlines()]


def test_the_first_word_completes_to_commands_and_catalogue_names() -> None:
    assert {"run", "models", "pull", "doctor", "completion", "smollm2"} <= set(
        completions("tokenloop ", 1)
    )
    assert "smollm2" in completions("tokenloop run smo", 2)
    assert completions("tokenloop pull smo", 2) == ["smollm2"]
    assert "--device" in completions("tokenloop --dev", 1)
    assert "transformers" in completions("tokenloop run --order tr", 3)


def test_stages_and_presets_complete_after_each_comma() -> None:
    assert completions("tokenloop run --preset gr", 3) == ["greedy"]
    assert completions("tokenloop run --stages top_k,min_p", 3) == ["top_k,min_p"]
    assert completions("tokenloop sample --compare creative,l", 3) == ["creative,llamacpp"]
    assert completions("tokenloop run --off non", 3) == ["none"]
