"""Records on stdout, one JSON object a line."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from msgspec import Struct


def write_lines(records: Iterable[Struct]) -> None:
    """Write each record when it comes; a reader sees it then."""
    encoder = msgspec.json.Encoder()
    for record in records:
        sys.stdout.buffer.write(encoder.encode(record) + b"\n")
        sys.stdout.buffer.flush()
