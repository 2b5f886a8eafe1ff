"""What the app is started with."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tokenloop.sampling.settings import DEFAULT_SEED, SamplerSettings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True)
class Options:
    """What to load and how to begin; see :func:`tokenloop.app.run_app`."""

    source: str | Path
    device: str = "auto"
    dtype: str = "auto"
    precision: str = "exact"
    threads: int | None = None
    settings: SamplerSettings = field(default_factory=SamplerSettings)
    seed: int = DEFAULT_SEED
    prompt: str | None = None
    theme: str = "dark"
    presets: Mapping[str, SamplerSettings] = field(default_factory=dict)
