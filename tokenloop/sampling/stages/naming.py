"""Tokens in the words of a note."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tokenloop.sampling.stages.stage import Context

NAMED = 4
"""Tokens that a note names; more are counted."""


def label_of(context: Context, token_id: int) -> str:
    """How a token is printed; by its id where no vocabulary is known."""
    words = context.situation.words
    return f"#{token_id}" if words is None else words.label(token_id)


def named(context: Context, ids: Sequence[int]) -> str:
    """Several tokens: ``␣Sydney, ␣the and 3 more``."""
    shown = ", ".join(label_of(context, token_id) for token_id in ids[:NAMED])
    more = len(ids) - NAMED
    return f"{shown} and {more:,} more" if more > 0 else shown


def joined(context: Context, ids: Sequence[int]) -> str:
    """Tokens in a row, the last ones where they are many: ``…␣violets␣are``."""
    text = "".join(label_of(context, token_id) for token_id in ids[-NAMED:])
    return f"…{text}" if len(ids) > NAMED else text


def listed(ids: Iterable[int]) -> str:
    """Ids for a record: ``5 16570``."""
    return " ".join(str(token_id) for token_id in ids)
