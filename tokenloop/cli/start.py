"""``tokenloop [MODEL]``: open the app on this terminal."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from tokenloop.cli.bring import model_here
from tokenloop.cli.exits import MISUSED
from tokenloop.cli.given_sampler import GivenSampler
from tokenloop.cli.options import misuse, model_argument, read_settings_file, runtime_options
from tokenloop.cli.param_types import TEXT
from tokenloop.cli.sampler_options import sampler_options

if TYPE_CHECKING:
    from tokenloop.app.runtime_choice import RuntimeChoice

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
    runtime: RuntimeChoice,
    sampler: GivenSampler,
) -> int:
    """Open the app."""
    _refuse_a_command_name(ctx, model)
    if not on_a_terminal():
        click.echo(f"tokenloop: {DUMB if _is_dumb() else NO_TERMINAL}", err=True)
        return MISUSED
    file = read_settings_file()
    settings, seed = sampler.settings(file), sampler.seed_over(file)
    source = model_here(model)
    from tokenloop.app import run_app

    return run_app(
        source,
        **runtime.over(file.runtime).said,
        settings=settings,
        seed=seed,
        prompt=prompt,
        theme=theme or file.theme or "dark",
        keymap=file.keys,
        presets=file.presets,
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
        raise misuse(
            f"the command comes first: tokenloop {model} …; a folder called so is ./{model}"
        )
