"""The program: its commands, and how every way out of them ends."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence

import click

from tokenloop import __version__
from tokenloop.cli.check import check
from tokenloop.cli.completion import completion
from tokenloop.cli.doctor import doctor
from tokenloop.cli.exits import FAILED, INTERRUPTED, MISUSED
from tokenloop.cli.group import ProgramGroup
from tokenloop.cli.models import models
from tokenloop.cli.pull import pull
from tokenloop.cli.run import run
from tokenloop.cli.sample import sample
from tokenloop.cli.start import open_app
from tokenloop.errors import TokenloopError
from tokenloop.labels import clean

DEBUG_VARIABLE = "TOKENLOOP_DEBUG"


@click.group(
    cls=ProgramGroup,
    fallback=open_app,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, message="%(prog)s %(version)s")
def program() -> None:
    """See a language model generate: a real model, one token at a time, in a terminal.

    MODEL is a name of the catalogue (the default is smollm2), a folder with safetensors, a .gguf
    or .safetensors file, a hub id (owner/name, @revision and :file.gguf where wanted), which is
    fetched if need be, or any other name that `tokenloop models` lists. A folder called like a
    command is reached as ./run.
    """


for command in (run, sample, check, models, pull, doctor, completion):
    program.add_command(command)


def run_program(arguments: Sequence[str]) -> int:
    """Run the program and say in one line on stderr what went wrong, if anything did.

    Args:
        arguments: without the program's name.

    Returns:
        The exit code: 0, 1 for a fault, 2 for wrong usage, 130 after Ctrl-C, 141 when the reader
        of our output went away.
    """
    from tokenloop_models.errors import ModelError

    try:
        code = program.main(list(arguments), prog_name="tokenloop", standalone_mode=False)
    except click.UsageError as error:
        return _fail(f"{error.format_message()} ({_help_of(error)})", MISUSED)
    except click.ClickException as error:
        return _fail(error.format_message(), FAILED)
    except click.Abort:
        return INTERRUPTED
    except (TokenloopError, ModelError) as error:
        return _fail(str(error), FAILED)
    except OSError as error:
        reason = error.strerror or str(error)
        return _fail(f"{error.filename}: {reason}" if error.filename else reason, FAILED)
    except Exception as error:
        if os.environ.get(DEBUG_VARIABLE):
            raise
        hint = f"{DEBUG_VARIABLE}=1 shows where"
        return _fail(f"unexpected {type(error).__name__}: {error} ({hint})", FAILED)
    return code if isinstance(code, int) else 0


def _help_of(error: click.UsageError) -> str:
    """What to type for help: the fallback's is the program's own."""
    context = error.ctx
    if context is None or context.command is open_app:
        return "tokenloop --help"
    return f"{context.command_path} --help"


def _fail(message: str, code: int) -> int:
    """Print one line that no argument or file can make two, or anything but text."""
    line = " ".join(message.split())
    with contextlib.suppress(OSError):  # where nobody reads stderr, the exit code still says it
        print(f"tokenloop: {clean(line)}", file=sys.stderr)
    return code
