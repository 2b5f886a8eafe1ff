"""The model that a command means: one of the hub that isn't here yet is fetched first."""

from __future__ import annotations

import click


def model_here(model: str | None) -> str:
    """Return what to load for a command's MODEL, the default where none was named.

    A hub id that isn't on this machine is fetched, with a bar on stderr; anything else stays as it
    is.

    Raises:
        ModelError: the hub has no such model, it is gated, or it can't be run.
    """
    from tokenloop_models.catalogue import DEFAULT
    from tokenloop_models.finding import missing_from_hub

    if model is None:
        return DEFAULT
    if missing_from_hub(model) is not None:
        from tokenloop.cli.progress import byte_progress
        from tokenloop_models.fetch import pull

        click.echo(
            f"tokenloop: {model} is no file or folder here: fetching it from the hub", err=True
        )
        with byte_progress(model) as progress:
            pull(model, progress)
    return model
