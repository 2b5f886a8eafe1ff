"""Where and how a model runs: what may be said of it, and who says it first."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, fields
from typing import Any

DEVICE = re.compile(r"auto|cpu|cuda(:\d{1,3})?")
DTYPES = ("auto", "float32", "bfloat16", "float16")
PRECISIONS = ("exact", "fast")
MOST_THREADS = 1024


@dataclass(frozen=True)
class RuntimeChoice:
    """What was said about how to run a model; ``None`` where nothing was.

    Attributes:
        device: ``auto``, ``cpu`` or ``cuda[:n]``.
        dtype: one of :data:`DTYPES`.
        precision: one of :data:`PRECISIONS`.
        threads: for torch.
    """

    device: str | None = None
    dtype: str | None = None
    precision: str | None = None
    threads: int | None = None

    def over(self, other: RuntimeChoice) -> RuntimeChoice:
        """This choice, and the other's where nothing was said here."""
        return RuntimeChoice(
            device=self.device or other.device,
            dtype=self.dtype or other.dtype,
            precision=self.precision or other.precision,
            threads=self.threads or other.threads,
        )

    @property
    def said(self) -> dict[str, Any]:
        """What was said, by name: the keywords of ``load`` and ``run_app``."""
        return {name: value for name, value in asdict(self).items() if value is not None}


RUNTIME_KEYS = tuple(field.name for field in fields(RuntimeChoice))
"""The names of what can be said."""


def allowed_instead(name: str, value: object) -> str | None:
    """What is allowed for one of them, where a value is not; ``None`` where it is.

    Args:
        name: one of :data:`RUNTIME_KEYS`.
        value: what was said.
    """
    if name == "device":
        known = isinstance(value, str) and DEVICE.fullmatch(value)
        return None if known else "one of auto, cpu, cuda, cuda:N"
    if name == "threads":
        whole = isinstance(value, int) and not isinstance(value, bool)
        if whole and value in range(1, MOST_THREADS + 1):
            return None
        return f"a whole number from 1 to {MOST_THREADS}"
    choices = DTYPES if name == "dtype" else PRECISIONS
    return None if value in choices else f"one of {', '.join(choices)}"
