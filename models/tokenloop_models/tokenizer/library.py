"""Calls into the ``tokenizers`` library, whose faults become errors of one line."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from tokenloop_models.errors import ModelError, quoted

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def faults_as(what: str) -> Iterator[None]:
    """Turn whatever the library raises into a :class:`ModelError` that begins with ``what``."""
    try:
        yield
    except Exception as error:  # the library has no narrower class
        raise ModelError(f"{what}: {quoted(str(error), 160)}") from None
    except BaseException as error:
        # A panic in the library's Rust code: its class can't be imported to be caught by name.
        if type(error).__name__ != "PanicException":
            raise
        raise ModelError(f"{what}: {quoted(str(error), 160)}") from None
