"""What can go wrong with a checkpoint or a pass, in words for the person in front of it."""

from __future__ import annotations


class ModelError(Exception):
    """A model that can't be loaded or run as asked; its text is one clean line.

    The line names the file and the field, and says what is allowed. Text that came from a file is
    quoted with its control characters escaped (see :func:`quoted`): an error reaches a terminal.
    """


class Cancelled(Exception):  # noqa: N818 - being cancelled is an outcome, not an error
    """A prefill was stopped between two chunks; the cache holds exactly the completed ones."""


def quoted(text: object, limit: int = 80) -> str:
    r"""Quote what a file said so that it can stand in one line of an error.

    Args:
        text: anything; text and bytes are quoted, other values are printed.
        limit: the longest result in characters; what is longer is cut with an ellipsis.

    Returns:
        Printable ASCII-safe text: controls, escapes and surrogates are written as ``\x1b``.
    """
    if isinstance(text, str):
        shown = ascii(text)
    elif isinstance(text, bytes):
        shown = ascii(text)[1:]
    else:
        shown = ascii(str(text))[1:-1]
    return shown if len(shown) <= limit else f"{shown[: limit - 1]}…"
