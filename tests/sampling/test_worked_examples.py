"""Every example that docs/sampling.md works out is what the chain does.

A block is fenced as ``sampling``; each line is a word and what it says (see the page). What is not
set is off, and where no ``order`` is named the example holds in both.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.sampling.chains import chain_on, final, logits_of
from tokenloop.sampling import ORDERS, STAGES, Grammar, Situation, Trace

PAGE = (Path(__file__).parents[2] / "docs" / "sampling.md").read_text(encoding="utf-8")

LINES = {"settings", "order", "prefix", "prompt", "ends", "allows", "chance", "mu", "before",
         "logits", "after", "figures", "says"}  # fmt: skip


@dataclass(frozen=True)
class Names:
    """The example's vocabulary: each token's text is its name, ⏎ is a newline."""

    names: tuple[str, ...]

    def id_of(self, name: str) -> int:
        return self.names.index(name)

    def ids_of(self, names: str) -> tuple[int, ...]:
        return tuple(self.id_of(name) for name in names.split())

    def raw(self, token_id: int) -> bytes:
        return self.names[token_id].replace("⏎", "\n").replace("␣", " ").encode()

    def encode(self, text: str) -> list[int]:
        return [self.id_of(letter) for letter in text.replace("\n", "⏎").replace(" ", "␣")]

    def label(self, token_id: int) -> str:
        return self.names[token_id]


@dataclass(frozen=True, eq=False)
class Allows:
    """What a grammar allows, given by the example itself."""

    allowed: np.ndarray
    state: str = "as the example says"


@dataclass(frozen=True)
class Example:
    """A block under the heading of a stage."""

    stage: str
    lines: dict[str, str]

    @property
    def orders(self) -> list[str]:
        return self.lines["order"].split() if "order" in self.lines else sorted(ORDERS)

    def run(self, order: str) -> tuple[Trace, Names]:
        given = pairs(self.lines.get("before") or self.lines["logits"])
        names = Names(tuple(given))
        numbers = [float(number) for number in given.values()]
        logits = np.array(numbers, dtype=np.float32)
        if "before" in self.lines:
            assert sum(numbers) == pytest.approx(1.0), "probabilities before"
            logits = logits_of(*numbers)
        situation = Situation(
            prefix=names.ids_of(self.lines.get("prefix", "")),
            prompt_length=int(self.lines.get("prompt", 0)),
            eos_ids=names.ids_of(self.lines.get("ends", "")),
            chance=float(self.lines.get("chance", 0)),
            mu=float(self.lines["mu"]) if "mu" in self.lines else None,
            words=names,
            constraint=self._constraint(names),
        )
        return chain_on(logits, situation, order, **self._settings(names)), names

    def _settings(self, names: Names) -> dict[str, Any]:
        settings = tomllib.loads(f"x = {{ {self.lines['settings']} }}")["x"]
        for name, value in settings.items():
            if name == "logit_bias":
                settings[name] = {names.id_of(token): bias for token, bias in value.items()}
            elif name == "bad_words":
                settings[name] = tuple(names.ids_of(words) for words in value)
            elif name == "grammar":
                settings[name] = Grammar(**value)
            elif isinstance(value, list):
                settings[name] = tuple(value)
        return settings

    def _constraint(self, names: Names) -> Allows | None:
        if "allows" not in self.lines:
            return None
        allowed = np.zeros(len(names.names), dtype=np.bool_)
        allowed[list(names.ids_of(self.lines["allows"]))] = True
        return Allows(allowed)


def pairs(line: str) -> dict[str, str]:
    words = line.split()
    return dict(zip(words[::2], words[1::2], strict=True))


def examples() -> Iterator[Example]:
    for section in re.split(r"^#+ ", PAGE, flags=re.MULTILINE):
        heading = section.partition("\n")[0]
        stage = heading.strip("`")
        for block in re.findall(r"^```sampling\n(.*?)^```", section, re.DOTALL | re.MULTILINE):
            lines = dict(line.split(maxsplit=1) for line in block.splitlines())
            assert lines.keys() <= LINES, f"{heading}: {lines.keys() - LINES}"
            yield Example(stage, lines)


EXAMPLES = list(examples())


def as_printed(value: float, printed: str) -> bool:
    """Whether a number rounds to what the page prints."""
    decimals = len(printed.partition(".")[2])
    return abs(value - float(printed)) <= 0.5 * 10**-decimals + 1e-6


@pytest.mark.parametrize("number", range(len(EXAMPLES)), ids=lambda n: f"{EXAMPLES[n].stage}-{n}")
def test_an_example_is_what_the_chain_does(number: int) -> None:
    example = EXAMPLES[number]
    for order in example.orders:
        trace, names = example.run(order)
        after = {names.label(token): p for token, p in final(trace).items()}
        printed = pairs(example.lines["after"])
        assert after.keys() == printed.keys(), order
        assert all(as_printed(after[name], printed[name]) for name in printed), (order, after)


@pytest.mark.parametrize("number", range(len(EXAMPLES)), ids=lambda n: f"{EXAMPLES[n].stage}-{n}")
def test_an_examples_record_says_what_the_page_does(number: int) -> None:
    example = EXAMPLES[number]
    for order in example.orders:
        trace, _ = example.run(order)
        outcome = next(one for one in trace.outcomes if one.name == example.stage)
        if "says" in example.lines:
            assert example.lines["says"] in (outcome.note, outcome.skipped), order
        figures = example.lines.get("figures", "")
        for name, printed in re.findall(r"(\w+) = ([\d.]+)", figures):
            assert as_printed(float(outcome.figures[name]), printed), (order, outcome.figures)


def test_every_example_stands_under_the_stage_that_it_shows() -> None:
    assert {example.stage for example in EXAMPLES} <= set(STAGES)
    for example in EXAMPLES:
        trace, _ = example.run(example.orders[0])
        acted = [one.name for one in trace.outcomes if one.skipped is None]
        assert example.stage in acted or "says" in example.lines, example
