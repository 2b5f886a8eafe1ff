"""A grammar's text as llguidance reads it, tried out where it can't do harm.

A long text can cost minutes, and one whose rules lead through one another thousands of times
overflows the stack of what compiles it, which ends the process. So a long one is read in a child
process first, with bounded time, memory and stack; this file is the program that the child runs,
and so imports nothing of ours.
"""

from __future__ import annotations

import contextlib
import json
import re
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from llguidance import LLParserLimits

SHORT = 2_000
"""Characters up to which a text is read right here: the shortest that harmed took 16,000."""

SECONDS, MEMORY_BYTES, STACK_BYTES = 10, 4 << 30, 1 << 20
"""What the child may take; of the stack an eighth of what the reader itself has."""

WHITESPACE = "[ ]?"
"""Between JSON's parts, unless a schema's own ``x-guidance`` says otherwise: at most one space. A
small model may else write line breaks for ever, which any JSON allows."""

SAID = 160
"""Characters of an error at most."""


class FaultyGrammarError(Exception):
    """A grammar that can't be read; its text says why in one line."""


def source_of(kind: str, text: str, specials: dict[int, str]) -> str:
    """Convert a grammar to llguidance's own form; a long one is tried out in a child process first.

    Args:
        kind: ``json_schema``, ``regex``, ``lark`` or ``gbnf``.
        text: the grammar.
        specials: the vocabulary's special tokens, which a grammar in Lark's notation may name.

    Raises:
        FaultyGrammarError: it can't be converted, or it is long and faulty or too costly.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise FaultyGrammarError(
            f"character {error.start} is half of a surrogate pair, which is no text"
        ) from None
    return _convert(kind, text) if len(text) <= SHORT else _in_a_child(kind, text, specials)


def try_out(kind: str, text: str, specials: dict[int, str]) -> str:
    """Convert a grammar and compile it for a vocabulary of single bytes and the special tokens.

    Raises:
        FaultyGrammarError: it is faulty or too costly.
    """
    from llguidance import LLMatcher, LLTokenizer, TokenizerWrapper

    source = _convert(kind, text)
    tokenizer = LLTokenizer(TokenizerWrapper(_Bytes(specials)))
    matcher = LLMatcher(tokenizer, source, log_level=0, limits=limits())
    matcher.compute_bitmask()
    if matcher.is_error():
        raise FaultyGrammarError(in_one_line(matcher.get_error()))
    return source


class _Bytes:
    """What llguidance's ``TokenizerWrapper`` asks a tokenizer for: single bytes, and the specials.

    The specials keep their ids, as a grammar may name those, too.
    """

    bos_token_id = None

    def __init__(self, specials: dict[int, str]) -> None:
        self.tokens = [b""] * (max(specials, default=0) + 258)
        for token_id, name in specials.items():
            self.tokens[token_id] = name.encode()
        free = (index for index, piece in enumerate(self.tokens) if not piece)
        for byte in range(256):
            self.tokens[next(free)] = bytes([byte])
        self.eos_token_id = len(self.tokens) - 1
        self.tokens[self.eos_token_id] = b"<end>"
        self.special_token_ids = [*specials, self.eos_token_id]

    def __call__(self, text: bytes | str) -> list[int]:
        raw = text if isinstance(text, bytes) else text.encode()
        return [self.tokens.index(bytes([byte])) for byte in raw]


def limits() -> LLParserLimits:
    """What a grammar may take, as llguidance counts it; its own defaults."""
    from llguidance import LLParserLimits

    return LLParserLimits(verbose_errors=False)


def in_one_line(error: str) -> str:
    """The part of an error of llguidance's that a person can use."""
    if error.startswith("panic"):
        return "it is too large"
    if error.startswith("NoExtension"):
        return "no text matches it"
    reason = re.search(r"^error: (.+)$", error, re.MULTILINE)
    line = reason[1] if reason else error.strip().split("\n")[0]
    return line if len(line) <= SAID else line[: SAID - 1] + "…"


def _convert(kind: str, text: str) -> str:
    from llguidance import LLMatcher

    if kind == "json_schema":
        return LLMatcher.grammar_from_json_schema(_schema(text), {"whitespace_pattern": WHITESPACE})
    if kind == "regex":
        return LLMatcher.grammar_from_regex(text)
    return LLMatcher.grammar_from_lark(text if kind == "lark" else _lark_of_gbnf(text))


def _schema(text: str) -> str:
    """The schema as an object; what is none is refused here: llguidance writes it into another."""
    try:
        schema = json.loads(text)
    except RecursionError:
        raise FaultyGrammarError("it is nested too deeply") from None
    except ValueError as error:
        raise FaultyGrammarError(f"it is no JSON: {error}") from None
    if schema is False:
        raise FaultyGrammarError("no text matches it")
    if not isinstance(schema, dict | bool):
        raise FaultyGrammarError("a schema is an object, true or false")
    return "{}" if schema is True else text


def _lark_of_gbnf(text: str) -> str:
    from llguidance.gbnf_to_lark import gbnf_to_lark

    try:
        return gbnf_to_lark(text)
    except RecursionError:
        raise FaultyGrammarError("it is nested too deeply") from None
    except Exception as error:  # its parser raises bare ones
        raise FaultyGrammarError(in_one_line(str(error))) from None


# --- the child -----------------------------------------------------------------------------------


def _in_a_child(kind: str, text: str, specials: dict[int, str]) -> str:
    """Let a child process read it.

    Raises:
        FaultyGrammarError: as the child says, or where it did not live to say anything.
    """
    try:
        done = subprocess.run(
            [sys.executable, "-P", __file__],
            input=json.dumps([kind, text, list(specials.items())]),
            capture_output=True,
            encoding="utf-8",
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise FaultyGrammarError(f"reading it takes more than {SECONDS} s") from None
    if done.returncode or not done.stdout:
        raise FaultyGrammarError("it is too large, or its rules lead too deep") from None
    source, problem = json.loads(done.stdout)
    if problem is not None:
        raise FaultyGrammarError(problem)
    return str(source)


def main() -> None:
    """Read ``[kind, text, specials]`` from stdin and write ``[source, problem]`` to stdout."""
    kind, text, specials = json.load(sys.stdin)
    _limit_memory()
    threading.stack_size(STACK_BYTES)
    reading = threading.Thread(target=_answer, args=(kind, text, dict(specials)))
    reading.start()
    reading.join()


def _answer(kind: str, text: str, specials: dict[int, str]) -> None:
    try:
        answer = [try_out(kind, text, specials), None]
    except FaultyGrammarError as error:
        answer = [None, str(error)]
    sys.stdout.write(json.dumps(answer))


def _limit_memory() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):  # not everywhere
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


if __name__ == "__main__":
    main()
