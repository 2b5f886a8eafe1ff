"""``tokenloop [MODEL]``: open the app on this terminal."""

from __future__ import annotations

import os
import sys
from typing import Any

import click

from tokenloop.cli.bring import model_here
from tokenloop.cli.exits import MISUSED
from tokenloop.cli.options import (
    TEXT,
    model_argument,
    read_settings_file,
    runtime_options,
    sampler_options,
    sampler_settings,
    seed_or_default,
)

NO_TERMINAL = "the app needs a terminal for its keys and its screen; without one: tokenloop run"
DUMB = "TERM=dumb has no screen, and the app needs one; without one: tokenloop run"


@click.command("open", hidden=True, add_help_option=True)
@model_argument
@click.option(
    "-p", "--prompt", type=TEXT, metavar="TEXT", help="Open on this text (default: ask for one)."
)
@click.option("--theme", type=click.Choice(["dark", "light"]), help="Colours (default dark).")
@runtime_options
@sampler_options
@click.pass_context
def open_app(
    ctx: click.Context,
    /,
    model: str | None,
    prompt: str | None,
    theme: str | None,
    device: str | None,
    dtype: str | None,
    precision: str | None,
    threads: int | None,
    seed: int | None,
    **sampler: Any,
) -> int:
    """Open the app."""
    _refuse_a_command_name(ctx, model)
    if not on_a_terminal():
        click.echo(f"tokenloop: {DUMB if _is_dumb() else NO_TERMINAL}", err=True)
        return MISUSED
    file = read_settings_file()
    settings = sampler_settings(file.sampler, **sampler)
    source = model_here(model)
    from tokenloop.app import run_app

    return run_app(
        source,
        device=device or file.device or "auto",
        dtype=dtype or file.dtype or "auto",
        precision=precision or file.precision or "exact",
        threads=threads or file.threads,
        settings=settings,
        seed=seed_or_default(seed, file.seed),
        prompt=prompt,
        theme=theme or file.theme or "dark",
        keymap=file.keys,
    )


def on_a_terminal() -> bool:
    """Whether keys can be read and a screen can be drawn."""
    return sys.stdin.isatty() and sys.stdout.isatty() and not _is_dumb()


def _is_dumb() -> bool:
    return os.environ.get("TERM") == "dumb"


def _refuse_a_command_name(ctx: click.Context, model: str | None) -> None:
    """``tokenloop --seed 1 run`` would open a model called run: the command comes first."""
    parent = ctx.parent
    commands = getattr(parent.command, "commands", {}) if parent is not None else {}
    if model in commands:
        raise click.UsageError(
            f"the command comes first: tokenloop {model} …; a folder called so is ./{model}"
        )
