"""The page of keys says what the table says."""

from __future__ import annotations

from pathlib import Path

from tokenloop.app.keys import COMMANDS, keys_of

PAGE = Path(__file__).parents[2] / "docs" / "keys.md"


def test_keys_page_lists_every_command_with_its_keys() -> None:
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    for command in COMMANDS:
        keys = " ".join(f"`{key}`" for key in keys_of(command, {}))
        assert f"| `{command.id}` | {keys} | {command.help} |" in lines
