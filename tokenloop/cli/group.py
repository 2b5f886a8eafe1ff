"""A group whose commands share the first place with a MODEL."""

from __future__ import annotations

import os
import sys
from typing import Any

import click
from click.shell_completion import CompletionItem

from tokenloop.cli.exits import PIPE_CLOSED
from tokenloop.cli.sections import write_sections


class ProgramGroup(click.Group):
    """``tokenloop run …`` runs a command; ``tokenloop [MODEL] …`` runs the fallback.

    The first argument decides: a command's name, ``--help`` and ``--version`` belong to the group,
    anything else to the fallback.
    """

    def __init__(self, *, fallback: click.Command, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.fallback = fallback

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Put the fallback's name in front where the arguments are meant for it."""
        own = [*self.commands, *(name for p in self.get_params(ctx) for name in p.opts)]
        if args and args[0] in own:
            return super().parse_args(ctx, args)
        if not args and ctx.resilient_parsing:  # completion of the first word: both may follow
            return super().parse_args(ctx, args)
        name = self.fallback.name or ""
        return super().parse_args(ctx, [name, *args])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Find a command; the fallback is one that is never listed."""
        if cmd_name == self.fallback.name:
            return self.fallback
        return super().get_command(ctx, cmd_name)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; when nobody reads our output any more, end without a word."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:
            # What is still buffered would fail again when the interpreter flushes it at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return PIPE_CLOSED
        return result

    def format_usage(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show both forms."""
        formatter.write_usage(ctx.command_path, "[MODEL] [OPTIONS]")
        formatter.write_usage(ctx.command_path, "COMMAND [ARGS]…", prefix=" " * len("Usage: "))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Show the fallback's options as the program's own, then the commands."""
        shown = [p for p in self.fallback.get_params(ctx) if "--help" not in p.opts]
        write_sections([*self.get_params(ctx), *shown], ctx, formatter)
        self.format_commands(ctx, formatter)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Offer commands, the fallback's options, and what can stand for its MODEL."""
        found = super().shell_complete(ctx, incomplete)
        found += self.fallback.shell_complete(ctx, incomplete)
        if not incomplete.startswith("-"):
            for param in self.fallback.get_params(ctx):
                if isinstance(param, click.Argument):
                    found += param.shell_complete(ctx, incomplete)
        return found
