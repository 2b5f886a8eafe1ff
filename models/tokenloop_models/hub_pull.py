"""A model from the hub: starts and watches the process that fetches it (``hub.py``)."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tokenloop_models import hub_cache
from tokenloop_models.errors import ModelError
from tokenloop_models.hub_errors import UNREACHABLE
from tokenloop_models.hub_id import HubId
from tokenloop_models.staging import Progress, last_line, watch


def pull_from_hub(
    wanted: HubId,
    progress: Progress | None,
    cancelled: Callable[[], bool] | None,
) -> Path:
    """Fetch what is missing of a model into the hub library's cache.

    Where the hub can't be reached (or HF_HUB_OFFLINE is set), what is here already is good enough.
    An interrupted pull goes on where it stopped.

    Returns:
        The snapshot's folder, or the GGUF in it.

    Raises:
        ModelError: the hub has no such model, it is gated, or it can't be run.
        Cancelled: when ``cancelled`` answered True.
    """
    with tempfile.TemporaryDirectory(prefix="tokenloop-") as folder:
        plan = Path(folder) / "plan.json"
        status, log = watch(
            [sys.executable, "-m", "tokenloop_models.hub", str(wanted), str(plan)],
            Path(folder),
            environment={**os.environ, "HF_HUB_DISABLE_TELEMETRY": "1"},
            measure=lambda: _arrived(plan),
            progress=progress,
            cancelled=cancelled,
        )
    found = hub_cache.find(wanted) if status in (0, UNREACHABLE) else None
    if found is None:
        raise ModelError(last_line(log))
    return found


def _arrived(plan: Path) -> tuple[int, int]:
    """Count the bytes that are here, of how many; nothing is known before there is a plan."""
    try:
        said = json.loads(plan.read_bytes())
    except (OSError, ValueError):
        return 0, 0
    arrived = sum(max(map(_size, map(Path, places))) for places in said["places"])
    return min(said["here"] + arrived, said["total"]), said["total"]


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0
