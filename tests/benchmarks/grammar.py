"""Valid JSON from a small model: how often with a grammar and without, and what the masks cost.

``python -m tests.benchmarks.grammar`` opens one prompt with the default model and lets 100 seeds
write an object of three fields, once under the schema and once without it. What comes out is
checked by Python's own JSON reader and by hand: nothing of what made the masks has a say.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokenloop.sampling import Grammar, SamplerSettings
from tokenloop.sampling.grammar import compile_grammar
from tokenloop.session import Session
from tokenloop.session.grammars import alphabet_of
from tokenloop.session.vocabulary import Vocabulary
from tokenloop_models import load
from tokenloop_models.catalogue import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable

    from tokenloop_models.model import Model

CITIES = ["Canberra", "Sydney", "Melbourne", "Perth"]
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 20},
        "age": {"type": "integer", "minimum": 0, "maximum": 130},
        "city": {"enum": CITIES},
    },
    "required": ["name", "age", "city"],
    "additionalProperties": False,
}
PROMPT = 'A person of Australia as JSON with the fields "name", "age" and "city":\n'
MOST_STEPS = 80


@dataclass(frozen=True)
class Written:
    """One seed's text.

    Attributes:
        ids: its tokens.
        text: it.
        ended: whether the model ended it.
    """

    ids: tuple[int, ...]
    text: str
    ended: bool


def fault_of(written: Written) -> str | None:
    """What is wrong with a text, or ``None``: the schema's rules, spelled out."""
    if not written.ended:
        return "no end"
    try:
        person = json.loads(written.text)
    except ValueError:
        return "no JSON"
    if not isinstance(person, dict) or set(person) != {"name", "age", "city"}:
        return "other fields"
    name, age, city = person["name"], person["age"], person["city"]
    if not isinstance(name, str) or len(name) > 20:
        return "name"
    if not isinstance(age, int) or isinstance(age, bool) or not 0 <= age <= 130:
        return "age"
    return None if city in CITIES else "city"


def write_all(model: Model, settings: SamplerSettings, prompt: str, seeds: int) -> list[Written]:
    """Every seed's text after the same prompt."""
    session = Session(model, settings=settings)
    session.open(session.encode(prompt))
    begin = len(session.ids)
    texts = []
    for seed in range(seeds):
        session.reseed(seed)
        while not session.ended and session.steps < MOST_STEPS:
            session.step()
        new = session.ids[begin : len(session.ids) - session.ended]
        texts.append(Written(tuple(new), model.tokenizer.decode(new), session.ended))
        session.rewind_to(begin)
    return texts


def mask_times(model: Model, grammar: Grammar, texts: list[Written]) -> tuple[float, list[float]]:
    """What it takes to compile the grammar, and to take a token and tell what may follow.

    Returns:
        Milliseconds: of the compilation (the vocabulary's included), and of each step of the texts.
    """
    alphabet = alphabet_of(Vocabulary(model.tokenizer), model.tokenizer.eos_ids)
    start = time.perf_counter()
    compiled = compile_grammar(grammar, alphabet)
    compilation = time.perf_counter() - start
    steps = []
    for written in texts:
        for length in range(1, len(written.ids) + 1):
            start = time.perf_counter()
            compiled.at(written.ids[:length]).allowed  # noqa: B018 - a property that works
            steps.append(time.perf_counter() - start)
    return compilation * 1e3, [step * 1e3 for step in steps]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=100)
    seeds = parser.parse_args().seeds
    report(load(DEFAULT), seeds)


def report(model: Model, seeds: int, say: Callable[[str], object] = print) -> None:
    """Measure a model.

    Args:
        model: it.
        seeds: how many texts to write in each way.
        say: takes each line.
    """
    grammar = Grammar("json_schema", json.dumps(SCHEMA))
    constrained = SamplerSettings(grammar=grammar)
    for name, settings in (("with the schema", constrained), ("without it", SamplerSettings())):
        texts = write_all(model, settings, PROMPT, seeds)
        faults = Counter(fault for fault in map(fault_of, texts) if fault is not None)
        told = ", ".join(f"{fault} {count}" for fault, count in faults.most_common())
        valid = seeds - faults.total()
        tokens = statistics.mean(len(text.ids) for text in texts)
        say(f"{name}: {valid} of {seeds} valid · {tokens:.1f} tokens each · {told or 'no faults'}")
        if settings is constrained:
            say(f"such as {texts[0].text}")
            compilation, steps = mask_times(model, grammar, texts)
    rare = statistics.quantiles(steps, n=20)[-1]
    say(
        f"{model.tokenizer.size:,} tokens: {compilation:.0f} ms to compile; a step's mask "
        f"{statistics.median(steps):.3f} ms (median), {rare:.3f} ms (95 %), "
        f"{max(steps):.3f} ms (most)"
    )


if __name__ == "__main__":
    main()
