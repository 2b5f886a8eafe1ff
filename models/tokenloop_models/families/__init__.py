"""The families that can be run, by what their files call them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokenloop_models.errors import ModelError, quoted
from tokenloop_models.families import llama
from tokenloop_models.fields import settings_file

if TYPE_CHECKING:
    from tokenloop_models.checkpoint import Checkpoint
    from tokenloop_models.families.family import Family

FAMILIES: dict[str, Family] = {
    "llama": llama.FAMILY,
}
"""By ``model_type`` of a ``config.json`` and ``general.architecture`` of a GGUF."""


def family_of(checkpoint: Checkpoint) -> Family:
    """Find the family of a checkpoint.

    Raises:
        ModelError: its architecture is not in the table.
    """
    family = FAMILIES.get(checkpoint.architecture)
    if family is None:
        field = "general.architecture" if checkpoint.format == "gguf" else "model_type"
        problem = f"{field} = {quoted(checkpoint.architecture)} is not known here"
        known = ", ".join(sorted(FAMILIES))
        raise ModelError(f"{settings_file(checkpoint)}: {problem}; known: {known}")
    return family
