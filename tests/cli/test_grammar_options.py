from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tokenloop.cli.grammar_options import MOST_BYTES, read_grammar
from tokenloop.errors import TokenloopError
from tokenloop.sampling import Grammar

if TYPE_CHECKING:
    from pathlib import Path

LARK = 'start: "yes" | NO\nNO: "no"\n'
GBNF = '# a comment\nroot ::= "yes" | "no"\n'


def test_a_regex_is_the_text_itself() -> None:
    assert read_grammar("regex", "[a-z]+") == Grammar("regex", "[a-z]+")


def test_a_schema_is_read_from_its_file_without_a_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_bytes(b'\xef\xbb\xbf{"type": "object"}')
    assert read_grammar("json_schema", str(path)) == Grammar("json_schema", '{"type": "object"}')


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        ("g.lark", LARK, "lark"),
        ("g.LARK", LARK, "lark"),
        ("g.gbnf", GBNF, "gbnf"),
        ("g.txt", LARK, "lark"),
        ("g.txt", GBNF, "gbnf"),
        ("g", '%import common.INT\nstart: INT "::="', "lark"),
        ("g", "?start: INT\nINT.2: /[0-9]+/", "lark"),
        ("g", 'start[max_tokens=3]: "a"', "lark"),
        ("g.lark", GBNF, "lark"),  # the name's end is what the person said
    ],
)
def test_a_grammar_is_told_apart_by_its_name_or_its_content(
    name: str, text: str, kind: str, tmp_path: Path
) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    assert read_grammar("grammar", str(path)) == Grammar(kind, text)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\xff\xfe\x00", "is not UTF-8 at byte 0"),
        (b"  \n", "is empty"),
        (b"just words", "holds no rule"),
        (b"a" * (MOST_BYTES + 1), "at most 1,048,576 characters"),
    ],
)
def test_a_file_that_is_no_grammar_is_refused_by_its_name(
    content: bytes, says: str, tmp_path: Path
) -> None:
    path = tmp_path / "g.txt"
    path.write_bytes(content)
    with pytest.raises(TokenloopError, match=says) as caught:
        read_grammar("grammar", str(path))
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_the_systems_own_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_grammar("json_schema", str(tmp_path / "none.json"))
