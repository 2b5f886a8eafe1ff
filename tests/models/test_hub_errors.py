"""What can go wrong with the hub, as one line that says whether it answered at all."""

from __future__ import annotations

import pytest
from huggingface_hub import errors

from tokenloop_models.errors import ModelError
from tokenloop_models.hub_errors import explain
from tokenloop_models.hub_id import HubId

WANTED = HubId("org/tiny", "v1")


def caused(error: Exception, cause: Exception) -> Exception:
    error.__cause__ = cause
    return error


@pytest.mark.parametrize(
    ("error", "said", "answered"),
    [
        (ModelError("a line of ours"), "a line of ours", True),
        (
            OSError(28, "No space left on device", "/models/blob"),
            "/models/blob: no space left: free some and pull again",
            True,
        ),
        (PermissionError(13, "Permission denied", "/models"), "/models: Permission denied", True),
        (
            caused(errors.LocalEntryNotFoundError("x"), errors.OfflineModeIsEnabled("off")),
            "org/tiny@v1 is not on this machine, and HF_HUB_OFFLINE is set",
            False,
        ),
        (
            caused(errors.LocalEntryNotFoundError("x"), ConnectionError("refused\nmore")),
            "org/tiny: no connection to {hub}: refused",
            False,
        ),
        (TimeoutError(), "org/tiny: no connection to {hub}: TimeoutError", False),
        (ValueError("first\n\nsecond"), "org/tiny@v1: first", True),
        (ValueError(), "org/tiny@v1: ValueError", True),
    ],
)
def test_each_has_its_own_line(error: Exception, said: str, answered: bool) -> None:
    from huggingface_hub import constants

    assert explain(error, WANTED) == (said.format(hub=constants.ENDPOINT), answered)
