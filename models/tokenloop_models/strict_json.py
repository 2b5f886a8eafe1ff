"""JSON from a checkpoint's folder: an object, no key twice, errors of one line."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from tokenloop_models.errors import ModelError, quoted
from tokenloop_models.file_kinds import read_small, shown

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 64 << 20  # the largest published tokenizer.json take about 35 MiB


def read_object(path: Path, limit: int = MAX_BYTES) -> dict[str, Any]:
    """Read a file that holds one JSON object.

    Raises:
        ModelError: it can't be read, is too large, or is no JSON object.
    """
    return parse_object(read_small(path, limit), shown(path), "content")


def parse_object(text: bytes, file: str, field: str) -> dict[str, Any]:
    """Parse one JSON object; ``file`` and ``field`` are how an error names it.

    Raises:
        ModelError: it is no JSON, no object, nested too deep, or has a key twice.
    """
    try:
        value = json.loads(text.decode("utf-8"), object_pairs_hook=_no_key_twice)
    except UnicodeDecodeError:
        raise ModelError(f"{file}: {field}: is not UTF-8") from None
    except RecursionError:
        raise ModelError(f"{file}: {field}: is nested too deep") from None
    except ValueError as error:
        raise ModelError(f"{file}: {field}: is no sound JSON: {error}") from None
    if not isinstance(value, dict):
        raise ModelError(f"{file}: {field}: is a JSON {type(value).__name__}; an object is needed")
    return value


def _no_key_twice(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = Counter(key for key, _ in pairs).most_common(1)[0][0]
        raise ValueError(f"key {quoted(twice)} is there twice")
    return found
