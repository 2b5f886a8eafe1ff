"""The options that several commands share, each group gathered into one argument."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from typing import TYPE_CHECKING, Any

import click

from tokenloop.app.runtime_choice import (
    DTYPES,
    MOST_THREADS,
    PRECISIONS,
    RUNTIME_KEYS,
    RuntimeChoice,
    allowed_instead,
)
from tokenloop.cli.param_types import ModelType
from tokenloop.cli.sections import SectionedOption

if TYPE_CHECKING:
    from tokenloop.app.settings_file import FileSettings

Command = Callable[..., Any]
Decorator = Callable[[Command], Command]

RUNNING = "Where and how it runs"

model_argument = click.argument("model", required=False, type=ModelType(), metavar="[MODEL]")


def misuse(message: str) -> click.UsageError:
    """Wrong usage of the command that runs."""
    return click.UsageError(message, click.get_current_context(silent=True))


def sectioned(section: str, *names: str, **attributes: Any) -> Decorator:
    """Declare an option that stands under a heading of the help."""
    return click.option(*names, cls=SectionedOption, section=section, **attributes)


def gathered(
    function: Command,
    name: str,
    make: Callable[..., object],
    options: Iterable[Decorator],
    keys: Iterable[str],
) -> Command:
    """Give a command options that it gets as one argument.

    Args:
        function: the command.
        name: of the argument.
        make: makes it of the options' values, given by name.
        options: the options, in the help's order.
        keys: the names under which click hands over their values.
    """
    keys = tuple(keys)

    @wraps(function)
    def command(*args: Any, **given: Any) -> Any:
        made = make(**{key: given.pop(key) for key in keys})
        return function(*args, **given, **{name: made})

    decorated: Command = command
    for option in reversed(tuple(options)):
        decorated = option(decorated)
    return decorated


def _device(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    allowed = None if value is None else allowed_instead("device", value)
    if allowed is not None:
        raise click.BadParameter(f"{value!r} is not {allowed}")
    return value


_RUNTIME_OPTIONS = (
    sectioned(
        RUNNING,
        "--device",
        callback=_device,
        metavar="auto|cpu|cuda[:N]",
        help="Where it runs (default auto: a GPU where there is one).",
    ),
    sectioned(
        RUNNING,
        "--dtype",
        type=click.Choice(DTYPES),
        help="Precision of weights and cache (default auto: float32 on a CPU).",
    ),
    sectioned(
        RUNNING,
        "--precision",
        type=click.Choice(PRECISIONS),
        help="exact (the default), or fast: a GGUF's 4 to 8 bit blocks stay packed (CPU).",
    ),
    sectioned(
        RUNNING,
        "--threads",
        type=click.IntRange(min=1, max=MOST_THREADS),
        metavar="N",
        help="Threads for torch (default: torch's own choice).",
    ),
)


def runtime_options(function: Command) -> Command:
    """Give a command --device, --dtype, --precision and --threads as one ``runtime``."""
    return gathered(function, "runtime", RuntimeChoice, _RUNTIME_OPTIONS, RUNTIME_KEYS)


def read_settings_file() -> FileSettings:
    """Read what the person's settings file says.

    Raises:
        SettingsFileError: names the file, the key and what is allowed.
    """
    from tokenloop.app.keys import BY_ID
    from tokenloop.app.settings_file import read_settings

    return read_settings(BY_ID)
