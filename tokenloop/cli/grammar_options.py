"""A grammar from the command line: a schema's or grammar's file, or a regular expression."""

from __future__ import annotations

import re
from pathlib import Path

from tokenloop.errors import TokenloopError
from tokenloop.sampling.settings import MOST_GRAMMAR, Grammar

MOST_BYTES = 4 * MOST_GRAMMAR  # a character is at most four bytes of UTF-8
SUFFIXES = {".lark": "lark", ".gbnf": "gbnf"}

GBNF_RULE = re.compile(r"^\s*[\w-]+\s*::=", re.MULTILINE)
LARK_RULE = re.compile(r"^\s*(?:[?!]?\w+(?:\[[^\]\n]*\])?(?:\.-?\d+)?\s*:(?!:)|%\w+)", re.MULTILINE)


def read_grammar(kind: str, path_or_text: str) -> Grammar:
    """Read what one of the options gives.

    Args:
        kind: ``json_schema``, a schema's file; ``regex``, the expression itself; ``grammar``, a
            file in Lark's or llama.cpp's notation, told apart by its name's end or its content.
        path_or_text: the file or the expression.

    Raises:
        TokenloopError: the file holds no text of a sensible size, or neither of the notations.
        OSError: the file can't be read.
        SettingError: the text is empty or too long.
    """
    if kind == "regex":
        return Grammar("regex", path_or_text)
    path = Path(path_or_text)
    text = _text_of(path)
    if kind == "json_schema":
        return Grammar("json_schema", text)
    return _grammar(path, text)


def _grammar(path: Path, text: str) -> Grammar:
    kind = SUFFIXES.get(path.suffix.lower())
    if kind == "gbnf" or (kind is None and GBNF_RULE.search(text)):
        return Grammar("gbnf", text)
    if kind == "lark" or LARK_RULE.search(text):
        return Grammar("lark", text)
    raise TokenloopError(
        f"{path}: holds no rule of a grammar: Lark (start: …) and GBNF (root ::= …) are read"
    )


def _text_of(path: Path) -> str:
    with path.open("rb") as file:
        raw = file.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        raise TokenloopError(f"{path}: a grammar has at most {MOST_GRAMMAR:,} characters")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise TokenloopError(f"{path}: is not UTF-8 at byte {error.start:,}") from None
    if not text.strip():
        raise TokenloopError(f"{path}: is empty: a schema or a grammar is expected")
    return text
