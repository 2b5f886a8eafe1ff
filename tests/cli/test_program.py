"""The program's shape: commands beside a MODEL, one line for every fault, imports kept light."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Cli
from tokenloop import __version__
from tokenloop.sampling import SamplerSettings


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
    "arguments", [["--help"], ["--version"], ["run", "--help"], ["completion", "bash"], []]
)
def test_light_commands_import_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys\n"
        "from tokenloop.cli.program import run_program\n"
        f"run_program({arguments!r})\n"
        "heavy = ('torch', 'numpy', 'textual', 'rich', 'tokenizers', 'msgspec')\n"
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


def test_the_defaults_that_help_names_are_the_samplers(cli: Cli) -> None:
    told = " ".join(cli("run", "--help").out.split())
    defaults = SamplerSettings()
    for option, value in (
        ("--temperature", defaults.temperature),
        ("--top-k", defaults.top_k),
        ("--top-p", defaults.top_p),
        ("--min-p", defaults.min_p),
        ("--repeat-penalty", defaults.repeat_penalty),
        ("--frequency-penalty", defaults.frequency_penalty),
        ("--presence-penalty", defaults.presence_penalty),
        ("--order", defaults.order),
    ):
        named = re.search(rf"{option} .*?\(default ([\w.]+)", told)
        assert named is not None
        assert named[1] == (value if isinstance(value, str) else f"{value:g}")


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
    return [line.split(",")[1] for line in done.stdout.splitlines()]


def test_the_first_word_completes_to_commands_and_catalogue_names() -> None:
    assert {"run", "models", "pull", "doctor", "completion", "smollm2"} <= set(
        completions("tokenloop ", 1)
    )
    assert "smollm2" in completions("tokenloop run smo", 2)
    assert completions("tokenloop pull smo", 2) == ["smollm2"]
    assert "--device" in completions("tokenloop --dev", 1)
    assert "transformers" in completions("tokenloop run --order tr", 3)
