"""Key names are those under which Textual reports key presses."""

from __future__ import annotations

import pytest
from textual.app import App
from textual.events import Key

from tokenloop.app.key_names import key_name
from tokenloop.app.keys import COMMANDS


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("x", "x"),
        ("X", "X"),
        ("é", "é"),
        ("?", "question_mark"),
        ("question_mark", "question_mark"),
        ("-", "minus"),
        ("comma", "comma"),
        ("space", "space"),
        ("f12", "f12"),
        ("ctrl+t", "ctrl+t"),
        ("shift+ctrl+left", "ctrl+shift+left"),
        ("shift+tab", "shift+tab"),
        ("ctrl+?", "ctrl+question_mark"),
    ],
)
def test_a_key_has_one_name(text: str, name: str) -> None:
    assert key_name(text) == name


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nonsense key",
        "nonsense",
        "\x1b",
        "\u202e",
        "<any>",
        "return",
        "f25",
        "plus_sign",
        "latin_small_letter_a",
        "shift+a",
        "ctrl+A",
        "ctrl+",
        "+a",
        "ctrl",
        "ctrl+ctrl+a",
        "control+a",
    ],
)
def test_what_no_key_press_sends_has_no_name(text: str) -> None:
    assert key_name(text) is None


def test_every_command_has_keys_with_names_of_their_own() -> None:
    keys = [key for command in COMMANDS for key in command.keys.split(",")]
    assert [key_name(key) for key in keys] == keys
    assert len(set(keys)) == len(keys)


async def test_printable_keys_are_named_as_textual_names_them() -> None:
    reported: list[str] = []

    class Listener(App[None]):
        def on_key(self, event: Key) -> None:
            reported.append(event.key)

    characters = "aZ9?!@#$%^&*()-_=+[]{};:'\"\\|.<>/`~é"
    async with Listener().run_test() as pilot:
        await pilot.press(*characters, "comma")
    assert reported == [key_name(character) for character in (*characters, ",")]
