"""Moments recorded from a real model: JSON Lines, a header and one moment a line."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from tokenloop.records import (
    CacheRecord,
    Choice,
    LatencyHistory,
    ModelInfo,
    PrefixToken,
    StepRecord,
)

PATH = Path(__file__).parent / "recorded" / "australia.jsonl"


class Header(Struct, frozen=True, kw_only=True):
    """What every moment shares."""

    model: ModelInfo
    seed: int


class Moment(Struct, frozen=True, kw_only=True):
    """All that the panels show at one moment.

    Attributes:
        title: what happened, for people.
        prefix: the tokens so far.
        choice: the held distribution and its draw.
        cache, latency: after the last pass.
        record: of an earlier token, where the moment is *then*.
        landed: how many tokens at the end just landed.
    """

    title: str
    prefix: tuple[PrefixToken, ...]
    choice: Choice | None
    cache: CacheRecord
    latency: LatencyHistory
    record: StepRecord | None = None
    landed: int = 0


class Recording(Struct, frozen=True, kw_only=True):
    """A model's recorded moments, in order."""

    model: ModelInfo
    seed: int
    moments: tuple[Moment, ...]


def save(recording: Recording, path: Path) -> int:
    """Write a recording; return its size in bytes."""
    path.parent.mkdir(exist_ok=True)
    lines = [Header(model=recording.model, seed=recording.seed), *recording.moments]
    return path.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))


def read(path: Path = PATH) -> Recording:
    """Read a recording; by default the one that the package carries.

    Raises:
        OSError: the file can't be read.
        msgspec.DecodeError: it holds something else.
    """
    header, *lines = path.read_bytes().splitlines()
    shared = msgspec.json.decode(header, type=Header)
    moments = tuple(msgspec.json.decode(line, type=Moment) for line in lines)
    return Recording(model=shared.model, seed=shared.seed, moments=moments)
