"""The prompts of the start screen: each shows one thing about how a model continues a text."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Prompt:
    """A text to start from and what to look for."""

    text: str
    lesson: str


PROMPTS: tuple[Prompt, ...] = (
    Prompt("The capital of Australia is", "likely is not true: a near-tie, the famous city wins"),
    Prompt("Once upon a time", "certainty: one token takes nearly everything"),
    Prompt("7 + 5 = 12\n12 + 9 = 21\n8 + 6 =", "arithmetic from a pattern, digit by digit"),
    Prompt("def fibonacci(n):\n    if n <", "code: white space is tokens too"),
    Prompt("Roses are red,\nviolets are blue,\n", "a rhyme: the line break is a choice"),
    Prompt("Shopping list:\n1. apples\n2. bread\n3.", "a list has a shape that goes on"),
    Prompt("The doctor said that", "what the training text took for granted"),
    Prompt("The bank was", "one word, two meanings: the next token decides"),
    Prompt("one two three one two three one two", "repetition feeds itself; try a penalty"),
    Prompt("La capitale de la France est", "another language, more tokens a word"),
    Prompt("My favourite colour is", "taste without a taster: a flat distribution"),
    Prompt("naïve café 日本 😀 =", "bytes: one character may be several tokens"),
    Prompt("The opposite of hot is", "a sure guess: turn the temperature and see it hold"),
)
