"""What each import loads: the other half of the import contracts, seen in a fresh process."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = ("torch", "numpy", "tokenizers", "safetensors", "gguf", "huggingface_hub")
SCREEN = ("textual", "rich")


def loaded_by(statement: str) -> set[str]:
    """Names of the watched packages that a statement loads."""
    code = f"import json, sys\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    modules = set(json.loads(done.stdout.splitlines()[-1]))
    return modules & {*HEAVY, *SCREEN, "click", "tokenloop_models"}


@pytest.mark.parametrize(
    ("statement", "never"),
    [
        ("import tokenloop", {*HEAVY, *SCREEN, "click", "tokenloop_models"}),
        ("import tokenloop.cli", {*HEAVY, *SCREEN}),
        ("import tokenloop.records", {*HEAVY, *SCREEN, "tokenloop_models"}),
        ("import tokenloop.sampling", {*HEAVY, *SCREEN, "tokenloop_models"}),
        ("import tokenloop.session", {"torch", "tokenizers", *SCREEN}),
        ("import tokenloop.loop", {"torch", "tokenizers", *SCREEN}),
        ("import tokenloop.app", {*HEAVY, *SCREEN}),
        ("import tokenloop_models", {*HEAVY, *SCREEN}),
        ("import tokenloop_models.fetch, tokenloop_models.local", {*HEAVY, *SCREEN}),
        ("import tokenloop_widgets.gallery", set(HEAVY)),
    ],
)
def test_an_import_loads_nothing_that_it_does_not_need(statement: str, never: set[str]) -> None:
    assert loaded_by(statement) & never == set()


def test_the_command_line_runs_without_a_screen_library(tiny_model_folder: object) -> None:
    """``tokenloop run --json`` proves that the core stands alone: no Textual is ever loaded."""
    arguments = ["run", str(tiny_model_folder), "-p", "the", "--steps", "1", "--json"]
    code = f"from tokenloop.cli.program import run_program\nassert run_program({arguments!r}) == 0"
    assert "textual" not in loaded_by(code)
