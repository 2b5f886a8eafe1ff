"""The prompt of a command without a screen: as text, from stdin, or as token ids."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from tokenloop.cli.options import Command, gathered, misuse
from tokenloop.cli.param_types import TEXT, IdsType

if TYPE_CHECKING:
    from tokenloop.session import Session

MOST_STDIN_BYTES = 8 << 20


@dataclass(frozen=True)
class Prompt:
    """What the model goes on from.

    Attributes:
        text: the text; empty where ids were given.
        ids: the ids, or ``None``.
        specials: whether ``<|…|>`` in the text means the special token.
    """

    text: str
    ids: list[int] | None
    specials: bool

    def ids_for(self, session: Session) -> list[int]:
        """The prompt's ids, as the session's tokenizer has them.

        Raises:
            ModelError: the text can't be encoded.
        """
        if self.ids is not None:
            return self.ids
        return session.encode(self.text, specials=self.specials)


def _given(*, prompt: str | None, ids: list[int] | None, specials: bool) -> Prompt:
    """Gather what the options said.

    Raises:
        click.UsageError: neither or both were given, or stdin is no text of a sensible size.
    """
    if (prompt is None) == (ids is None):
        raise misuse("give the prompt as -p TEXT or as --ids 1,2,3")
    return Prompt(_stdin() if prompt == "-" else prompt or "", ids, specials)


def _stdin() -> str:
    raw = sys.stdin.buffer.read(MOST_STDIN_BYTES + 1)
    if len(raw) > MOST_STDIN_BYTES:
        raise misuse(f"stdin: more than {MOST_STDIN_BYTES:,} bytes is no prompt")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise misuse(f"stdin: is not UTF-8 at byte {error.start:,}") from None


_PROMPT_OPTIONS = (
    click.option(
        "-p",
        "--prompt",
        type=TEXT,
        metavar="TEXT",
        help="The text to go on from; - reads stdin.",
    ),
    click.option("--ids", type=IdsType(), metavar="1,2,3", help="The prompt as token ids instead."),
    click.option(
        "--specials", is_flag=True, help="Read <|…|> in the prompt as special tokens, not as text."
    ),
)


def prompt_options(function: Command) -> Command:
    """Give a command -p, --ids and --specials as one ``prompt``."""
    return gathered(function, "prompt", _given, _PROMPT_OPTIONS, ("prompt", "ids", "specials"))
