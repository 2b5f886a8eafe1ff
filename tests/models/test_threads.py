"""Before torch comes in, its threads are told to sleep when they wait."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest


def spin_count(before: str, **environment: str) -> str:
    """What a process that loads nothing but this setting ends up with."""
    clean = {key: value for key, value in os.environ.items() if "OMP" not in key}
    code = (
        f"import os; {before}; from tokenloop_models.threads import wait_without_spinning;"
        "wait_without_spinning(); print(os.environ.get('GOMP_SPINCOUNT'))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, env=clean | environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


def test_waiting_threads_sleep_soon() -> None:
    assert spin_count("pass") == "4000"


@pytest.mark.parametrize(
    ("environment", "count"),
    [({"GOMP_SPINCOUNT": "7"}, "7"), ({"OMP_WAIT_POLICY": "ACTIVE"}, "None")],
)
def test_the_person_s_own_setting_stands(environment: dict[str, str], count: str) -> None:
    assert spin_count("pass", **environment) == count


def test_too_late_is_left_alone() -> None:
    assert spin_count("import torch") == "None"
