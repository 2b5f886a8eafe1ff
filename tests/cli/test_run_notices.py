"""What a run says beside its steps: that it repeats itself, and how a grammar ended it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, Ended

PROMPT = ("-p", "The cat is on the")

Run = Callable[..., Ended]


@pytest.fixture
def run(cli: Cli, tiny_model_folder: Path) -> Run:
    """Run the tiny model."""
    return lambda *arguments: cli("run", str(tiny_model_folder), *PROMPT, *arguments)


@pytest.fixture
def constrained(run: Run) -> Run:
    """The same, where grammars can be had."""
    pytest.importorskip("llguidance")
    return run


@pytest.mark.parametrize("as_json", [(), ("--json",)])
def test_a_text_that_repeats_itself_is_said_once(run: Run, as_json: tuple[str, ...]) -> None:
    ended = run("--logit-bias", "40=1000", "--steps", "20", *as_json)
    assert ended.code == 0
    [line] = ended.err.splitlines()
    assert line.startswith("tokenloop: the text repeats itself: 1 token, 6 times: % (the model's ")
    assert line.endswith(" bits)")


def test_a_text_that_does_not_repeat_itself_is_not_said_to(run: Run) -> None:
    ended = run("--temperature", "3", "--top-p", "1", "--min-p", "0", "--steps", "12")
    assert "repeats itself" not in ended.err


def test_the_end_of_a_constrained_text_says_that_the_grammar_is_complete(constrained: Run) -> None:
    ended = constrained("--regex", "ab", "--steps", "9", "--json")
    assert ended.code == 0
    texts = [json.loads(line)["token"]["text"] for line in ended.out.splitlines()]
    assert "".join(texts[:-1]) == "ab"
    steps = f"{len(texts)} steps"
    [line] = ended.err.splitlines()
    assert line.startswith(f"tokenloop: <|im_end|> ended the text after {steps}: the grammar is ")
    assert "the grammar is complete" in line


def test_steps_that_end_before_the_grammar_does_are_said(constrained: Run) -> None:
    ended = constrained("--regex", "[a-z]{9}", "--steps", "2")
    assert ended.code == 0
    assert ended.err.startswith("tokenloop: stopped after 2 steps; the grammar: not complete yet")


def test_a_schema_is_read_from_its_file(constrained: Run, tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text('{"enum": ["a", "b"]}')
    ended = constrained("--json-schema", str(tmp_path / "s.json"), "--steps", "9", "--json")
    texts = [json.loads(line)["token"]["text"] for line in ended.out.splitlines()]
    assert json.loads("".join(texts[:-1])) in ("a", "b")


def test_a_grammar_is_read_from_its_file(constrained: Run, tmp_path: Path) -> None:
    (tmp_path / "g.gbnf").write_text('root ::= "x" [0-9]\n')
    ended = constrained("--grammar", str(tmp_path / "g.gbnf"), "--steps", "9", "--json")
    texts = [json.loads(line)["token"]["text"] for line in ended.out.splitlines()]
    written = "".join(texts[:-1])
    assert written[0] == "x"
    assert written[1:].isdigit()


@pytest.mark.parametrize("arguments", [("--regex", "(a"), ("--regex", "")])
def test_a_faulty_grammar_is_one_line(constrained: Run, arguments: tuple[str, ...]) -> None:
    ended = constrained(*arguments)
    assert (ended.code in (1, 2), ended.out) == (True, "")
    assert ended.err.startswith("tokenloop: grammar = ")
    assert ended.err.count("\n") == 1


def test_a_faulty_grammar_in_a_file_names_the_file(constrained: Run, tmp_path: Path) -> None:
    path = tmp_path / "faulty.json"
    path.write_text('{"type": 3}')
    ended = constrained("--json-schema", str(path))
    assert (ended.code, ended.out) == (1, "")
    assert ended.err.startswith(f"tokenloop: {path}: JSON Schema: ")
    assert ended.err.count("\n") == 1
