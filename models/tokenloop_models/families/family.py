"""What a family's file says: its settings, its weights' names, and how they are stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from tokenloop_models.checkpoint import Checkpoint
from tokenloop_models.config import DecoderConfig

Format = Literal["gguf", "safetensors"]
Layout = Literal["pairs", "halves"]


@dataclass(frozen=True, kw_only=True)
class Family:
    """A family of models: everything that is special about it, as data and one function.

    Attributes:
        name: for people and records.
        read: resolves and checks a file's settings; ModelError for any that it doesn't know.
        names: for each format, the file's name of each role (see ``weights.roles``), without
            ``.weight`` and ``.bias``; ``{}`` stands for the layer's number.
        ignored: for each format, regular expressions of whole tensor names that carry no weights
            of their own.
        rotary_rows: for each format, how the rows of a query or key head are stored: features of a
            rotary pair side by side, or all first features, then all second ones.
    """

    name: str
    read: Callable[[Checkpoint], DecoderConfig]
    names: Mapping[Format, Mapping[str, str]]
    ignored: Mapping[Format, tuple[str, ...]]
    rotary_rows: Mapping[Format, Layout]
