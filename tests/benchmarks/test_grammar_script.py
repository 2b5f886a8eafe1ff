"""The script that counts valid JSON: its own check, and that it runs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from tests.benchmarks.grammar import Written, fault_of, report

if TYPE_CHECKING:
    from tokenloop_models.model import Model


@pytest.mark.parametrize(
    ("text", "ended", "fault"),
    [
        ('{"name": "Al", "age": 130, "city": "Perth"}', True, None),
        ('{"name": "Al", "age": 130, "city": "Perth"}', False, "no end"),
        ('{"name": "Al", "age": 130', True, "no JSON"),
        ("[]", True, "other fields"),
        ('{"name": "Al", "age": 1}', True, "other fields"),
        ('{"name": "Al", "age": 1, "city": "Perth", "x": 1}', True, "other fields"),
        ('{"name": 1, "age": 1, "city": "Perth"}', True, "name"),
        ('{"name": "123456789012345678901", "age": 1, "city": "Perth"}', True, "name"),
        ('{"name": "Al", "age": 131, "city": "Perth"}', True, "age"),
        ('{"name": "Al", "age": true, "city": "Perth"}', True, "age"),
        ('{"name": "Al", "age": 1.5, "city": "Perth"}', True, "age"),
        ('{"name": "Al", "age": 1, "city": "Rome"}', True, "city"),
    ],
)
def test_a_fault_has_its_name(text: str, ended: bool, fault: str | None) -> None:
    assert fault_of(Written((), text, ended)) == fault


def test_random_weights_are_valid_with_the_schema_and_not_without(tiny_model: Model) -> None:
    said: list[str] = []
    report(tiny_model, 3, said.append)
    assert re.match(r"with the schema: 3 of 3 valid · [\d.]+ tokens each · no faults", said[0])
    assert said[1].startswith('such as {"name') or said[1].startswith('such as { "name')
    assert said[2].startswith("without it: 0 of 3 valid")
    assert re.match(r"299 tokens: \d+ ms to compile; a step's mask [\d.]+ ms \(median\)", said[3])
