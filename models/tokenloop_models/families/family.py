"""What a family's file says: its settings, its weights' names, and how they are stored."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from tokenloop_models.config import DecoderConfig
    from tokenloop_models.families.settings import Settings

Format = Literal["gguf", "safetensors"]
Layout = Literal["pairs", "halves"]


@dataclass(frozen=True, kw_only=True)
class Stored:
    """How one format stores a family's settings and weights.

    Attributes:
        spelling: what it calls a setting where most ``config.json`` (``settings.py``) call it
            differently: the common name → its own.
        defaults: settings that hold where the file doesn't have them, by the common names: those
            that the reference implementation takes, and in a GGUF those that it never holds.
        names: the file's name of each role (``roles.py``), without ``.weight`` and ``.bias``. The
            first ``{}`` stands for the layer's number, a second one for a number in a stack whose
            members are stored one by one. Several roles with a space between them are one tensor,
            their rows below each other; where a file may have either, what is there counts.
        prefixes: what names begin with, and what may stand in its place in some files.
        rotary_rows: how the rows of a query or key head are stored: features of a rotary pair side
            by side, or all first features, then all second ones.
        transposed: roles that are stored as (inputs, outputs).
        by_head: roles in one tensor whose rows go head by head: a query's, its key's, its value's.
        added_to_norms: what is missing from the norms' weights (a 1 in Gemma's).
        ignored: regular expressions of whole tensor names that carry no weights of their own.
    """

    names: Mapping[str, str]
    prefixes: tuple[str, ...] = ()
    rotary_rows: Layout = "halves"
    transposed: frozenset[str] = frozenset()
    by_head: bool = False
    added_to_norms: float = 0.0
    ignored: tuple[str, ...] = ()
    spelling: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Family:
    """A family of models: everything that is special about it, as data and one function.

    Attributes:
        name: for people and records.
        model_types: what ``model_type`` of a ``config.json`` calls it.
        architectures: what ``general.architecture`` of a GGUF calls it; empty: there is no such.
        read: resolves and checks a file's settings; ModelError for any that it doesn't know.
        stored: how each format stores it.
        text: the field of its ``config.json`` that holds the settings where the model also does
            other things than text (``text_config``), by ``model_type``.
    """

    name: str
    model_types: tuple[str, ...]
    architectures: tuple[str, ...] = ()
    read: Callable[[Settings], DecoderConfig]
    stored: Mapping[Format, Stored]
    text: Mapping[str, str] = field(default_factory=dict)
