"""``tokenloop completion``: print the script that teaches a shell to complete."""

from __future__ import annotations

import click

SHELLS = ("bash", "zsh", "fish")


@click.command(short_help="Print completion for bash, zsh or fish.")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    r"""Print shell completion, for bash, zsh or fish.

    \b
    bash, in ~/.bashrc:   eval "$(tokenloop completion bash)"
    zsh, in ~/.zshrc:     eval "$(tokenloop completion zsh)"
    fish:  tokenloop completion fish > ~/.config/fish/completions/tokenloop.fish
    """
    from click.shell_completion import get_completion_class

    maker = get_completion_class(shell)
    if maker is None:
        raise click.ClickException(f"this click knows no completion for {shell}")
    root = ctx.find_root().command
    click.echo(maker(root, {}, "tokenloop", "_TOKENLOOP_COMPLETE").source())
