"""The plain data that the loop hands out: frozen, without tensors, ready for JSON.

Every number in here was measured or computed from a pass that ran. What is not known is ``None``.
Probabilities are in [0, 1], times in milliseconds, sizes in bytes, entropies in bits.
"""

from tokenloop.records.costs import CacheRecord, Latency, LatencyHistory
from tokenloop.records.laboratory import (
    Answer,
    ChainRecord,
    ComparedCandidate,
    Comparison,
    DrawCount,
    DrawsRecord,
    FoundTokens,
    Repetition,
    SweepPoint,
    SweepRecord,
    Watched,
    WatchPoint,
)
from tokenloop.records.model import CheckRecord, ModelInfo
from tokenloop.records.steps import (
    Candidate,
    Choice,
    Draw,
    How,
    Interval,
    PrefixToken,
    StageRecord,
    StepRecord,
    Tail,
    Token,
)

__all__ = [
    "Answer",
    "CacheRecord",
    "Candidate",
    "ChainRecord",
    "CheckRecord",
    "Choice",
    "ComparedCandidate",
    "Comparison",
    "Draw",
    "DrawCount",
    "DrawsRecord",
    "FoundTokens",
    "How",
    "Interval",
    "Latency",
    "LatencyHistory",
    "ModelInfo",
    "PrefixToken",
    "Repetition",
    "StageRecord",
    "StepRecord",
    "SweepPoint",
    "SweepRecord",
    "Tail",
    "Token",
    "WatchPoint",
    "Watched",
]
