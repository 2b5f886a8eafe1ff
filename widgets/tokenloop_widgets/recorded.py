"""Moments recorded from a real model: JSON Lines, a header and one moment a line."""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from tokenloop.records import (
    CacheRecord,
    Choice,
    Comparison,
    DrawsRecord,
    FoundTokens,
    LatencyHistory,
    ModelInfo,
    PrefixToken,
    StepRecord,
    SweepRecord,
    Watched,
)

PATH = Path(__file__).parent / "recorded" / "australia.jsonl"
LABORATORY_PATH = Path(__file__).parent / "recorded" / "laboratory.json"


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


class Laboratory(Struct, frozen=True, kw_only=True):
    """Answers of the laboratory, several of each kind.

    Attributes:
        choices: held distributions whose chains do more and more.
        draws, sweeps, comparisons, found: answers of one moment.
        watched: a watch list after some steps.
        position: the place in the prefix that is now for it.
    """

    choices: tuple[Choice, ...]
    draws: tuple[DrawsRecord, ...]
    sweeps: tuple[SweepRecord, ...]
    comparisons: tuple[Comparison, ...]
    found: tuple[FoundTokens, ...]
    watched: tuple[Watched, ...]
    position: int


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


def save_laboratory(laboratory: Laboratory, path: Path) -> int:
    """Write the laboratory's answers; return their size in bytes."""
    path.parent.mkdir(exist_ok=True)
    return path.write_bytes(msgspec.json.encode(laboratory) + b"\n")


def read_laboratory(path: Path = LABORATORY_PATH) -> Laboratory:
    """Read the laboratory's answers; by default those that the package carries.

    Raises:
        OSError: the file can't be read.
        msgspec.DecodeError: it holds something else.
    """
    return msgspec.json.decode(path.read_bytes(), type=Laboratory)
