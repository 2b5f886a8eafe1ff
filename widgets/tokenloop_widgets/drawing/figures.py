"""Numbers as the screen prints them: fixed widths, so that they don't dance from step to step."""

from __future__ import annotations

import math

UNKNOWN = "—"
PERCENT_WIDTH = 7  # "100.0 %" and "< 0.1 %"


def percent(p: float | None) -> str:
    """A probability in [0, 1] as ``36.2 %``; ``< 0.1 %`` where it would round to a false zero."""
    if p is None:
        return UNKNOWN
    tenths = f"{p * 100:.1f}"
    return "< 0.1 %" if p > 0 and tenths == "0.0" else f"{tenths} %"


def short_percent(p: float | None) -> str:
    """A probability in at most four cells: ``71 %``, ``<1 %``, ``100%``."""
    if p is None:
        return UNKNOWN
    whole = f"{p * 100:.0f}"
    if p > 0 and whole == "0":
        return "<1 %"
    return "100%" if whole == "100" else f"{whole} %"


def count(n: int) -> str:
    """A whole number with its thousands: ``49,152``."""
    return f"{n:,}"


def size(n: int) -> str:
    """Bytes in binary units with three digits that matter: ``45.0 KiB``, ``225 KiB``."""
    value, unit = float(n), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if value < 999.5 and not (unit == "B" and value >= 1000):
            break
        value, unit = value / 1024, larger
    if unit == "B":
        return f"{n:,} B"
    return f"{value:.0f} {unit}" if value >= 99.95 else f"{value:.1f} {unit}"


def milliseconds(ms: float | None) -> str:
    """A time: ``25.1 ms``, ``377 ms``, ``6.80 s``."""
    if ms is None:
        return UNKNOWN
    if ms < 99.95:
        return f"{ms:.1f} ms"
    return f"{ms:.0f} ms" if ms < 999.5 else f"{ms / 1000:.2f} s"


def bits(value: float | None) -> str:
    """An entropy: ``3.58 bits``."""
    return UNKNOWN if value is None else f"{value + 0.0:.2f} bits"


def setting(value: float | int | str) -> str:
    """A sampler's setting: fractions with two digits at least, whole numbers as they are."""
    if isinstance(value, float):
        text = f"{value:.4f}".rstrip("0")
        whole, _, fraction = text.partition(".")
        return f"{whole}.{fraction:0<2}"
    return f"{value:,}" if isinstance(value, int) else value


_WRITTEN = {
    "logit_bias": "logit bias",
    "bad_words": "bad words",
    "min_length": "min length",
    "no_repeat_ngram": "no-repeat",
    "dry": "DRY",
    "epsilon_cutoff": "epsilon",
    "eta_cutoff": "eta",
    "xtc": "XTC",
    "dynamic_temperature": "dynamic T",
}
"""Stages whose name is not just their identifier with hyphens."""


def stage_name(name: str) -> str:
    """A stage as people write it: ``top_k`` is ``top-k``, ``dry`` is ``DRY``."""
    return _WRITTEN.get(name, name.replace("_", "-"))


def perplexity(entropy_bits: float) -> str:
    """How many equally likely choices are as uncertain, 2 to the entropy: ``2.75``, ``11.9``."""
    choices = 2.0**entropy_bits
    if choices < 9.995:
        return f"{choices:.2f}"
    return f"{choices:.1f}" if choices < 99.95 else count(round(choices))


def surprisal(p: float) -> str:
    """How surprising an outcome of probability ``p`` is, −log₂ p: ``1.47 bits``."""
    return bits(-math.log2(p)) if p > 0 else "∞ bits"


def percentile(values: tuple[float, ...], part: float) -> float | None:
    """The nearest-rank percentile of what was measured; ``None`` of nothing."""
    if not values:
        return None
    ordered = sorted(values)
    rank = max(1, -int(-part * len(ordered) // 1))
    return ordered[min(rank, len(ordered)) - 1]
