"""``tokenloop models``: what is on this machine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tokenloop.labels import clean

if TYPE_CHECKING:
    from tokenloop_models.local import LocalModel


@click.command(short_help="List the models on this machine.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def models(as_json: bool) -> None:
    """List the models on this machine, and what the catalogue could add.

    They are those of the cache folder, of the hub's cache, of LM Studio and of Ollama. The names in
    the first column open them. What can't be opened is marked with the reason; files of the cache
    folder that can't be read come below.
    """
    from tokenloop_models.local import look_around

    found, problems = look_around()
    if as_json:
        for model in found:
            click.echo(_json_line(model))
    else:
        _print_table(found, problems)


def _json_line(model: LocalModel) -> str:
    return json.dumps(
        {
            "name": model.name,
            "title": model.title,
            "size_bytes": model.size,
            "family": model.family,
            "quantisation": model.quantisation,
            "dtype": model.dtype,
            "context_length": model.context_length,
            "path": str(model.path),
            "problem": model.problem,
        }
    )


def _print_table(found: list[LocalModel], problems: list[str]) -> None:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from tokenloop.cli.paper import paper
    from tokenloop_models.catalogue import CATALOGUE
    from tokenloop_models.sizes import file_size

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading, justify in (
        *(("name", "left"), ("model", "left"), ("size", "right"), ("family", "left")),
        *(("weights", "left"), ("context", "right"), ("where", "left")),
    ):
        table.add_column(heading, justify="right" if justify == "right" else "left")
    for model in found:
        context = f"{model.context_length:,}" if model.context_length else "not said"
        where = _where(model.path) if model.problem is None else f"✗ {model.problem}"
        cells = (
            *(model.name, model.title, file_size(model.size), model.family),
            *(model.weights, context, where),
        )
        style = "dim" if model.problem is not None else ""
        table.add_row(*(Text(clean(cell), style, overflow="fold") for cell in cells))
    console = paper()
    if found:
        console.print(table)
    for line in problems:
        console.print(Text(clean(f"✗ {line}"), "dim", overflow="fold"))
    here = {model.name for model in found}
    for entry in CATALOGUE.values():
        if entry.name not in here:
            line = f"{entry.title} is not here yet: tokenloop pull {entry.name}"
            console.print(Text(line))


def _where(path: Path) -> str:
    """A path as a person writes it: home as ``~``, without the hub's and Ollama's hashes."""
    for parent in path.parents:
        if parent.name in ("snapshots", "blobs"):
            path = parent.parent
            break
    home = Path.home()
    if home == home.parent or not path.is_relative_to(home):  # HOME= makes the root one's home
        return str(path)
    return f"~/{path.relative_to(home)}"
