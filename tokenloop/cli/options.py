"""The options that several commands share, and the settings that come of them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

if TYPE_CHECKING:
    from tokenloop.app.settings_file import FileSettings
    from tokenloop.sampling import SamplerSettings

F = TypeVar("F", bound=Callable[..., Any])

DEVICE = re.compile(r"auto|cpu|cuda(:\d{1,3})?")
DTYPES = ("auto", "float32", "bfloat16", "float16")
PRECISIONS = ("exact", "fast")


class CatalogueName(click.ParamType[str]):
    """A name of the catalogue; completes it."""

    name = "name"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Offer the catalogue's names."""
        from tokenloop_models.catalogue import CATALOGUE

        return [
            CompletionItem(entry.name, help=entry.title)
            for entry in CATALOGUE.values()
            if entry.name.startswith(incomplete)
        ]


class ModelType(CatalogueName):
    """A catalogue name or a path; completes both."""

    name = "model"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Offer the catalogue's names, then let the shell offer files."""
        names = super().shell_complete(ctx, param, incomplete)
        return [*names, CompletionItem(incomplete, type="file")]


class TextType(click.ParamType[str]):
    """Text in UTF-8, whatever the locale says that arguments are in.

    Python keeps bytes that its locale can't decode as lone surrogates (PEP 383).
    """

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Give the text that was typed.

        Raises:
            click.BadParameter: its bytes are no UTF-8.
        """
        text = str(value)
        if text.isascii():
            return text
        try:
            text.encode("utf-8")
        except UnicodeEncodeError:
            try:
                return os.fsencode(text).decode("utf-8")
            except UnicodeError as error:
                at = f" at byte {error.start:,}" if isinstance(error, UnicodeDecodeError) else ""
                self.fail(f"{text!a} is not UTF-8{at}", param, ctx)
        return text


TEXT = TextType()


def _device(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value is not None and not DEVICE.fullmatch(value):
        raise click.BadParameter(f"{value!r} is none of auto, cpu, cuda, cuda:N")
    return value


def _logit_bias(
    _: click.Context, __: click.Parameter, values: tuple[str, ...]
) -> dict[int, float] | None:
    biases: dict[int, float] = {}
    for value in values:
        token_id, _equals, bias = value.partition("=")
        try:
            biases[int(token_id)] = float(bias)
        except ValueError:
            wanted = "ID=BIAS, such as 16570=-2 or 16570=-inf"
            raise click.BadParameter(f"{value!r} is not {wanted}") from None
    return biases or None


model_argument = click.argument("model", required=False, type=ModelType(), metavar="[MODEL]")

_RUNTIME_OPTIONS = (
    click.option(
        "--device",
        callback=_device,
        metavar="auto|cpu|cuda[:N]",
        help="Where it runs (default auto: a GPU where there is one).",
    ),
    click.option(
        "--dtype",
        type=click.Choice(DTYPES),
        help="Precision of weights and cache (default auto: float32 on a CPU).",
    ),
    click.option(
        "--precision",
        type=click.Choice(PRECISIONS),
        help="exact (the default), or fast: a GGUF's 4 to 8 bit blocks stay packed (CPU).",
    ),
    click.option(
        "--threads",
        type=click.IntRange(min=1, max=1024),
        metavar="N",
        help="Threads for torch (default: torch's own choice).",
    ),
)

_SAMPLER_OPTIONS = (
    click.option("--seed", type=int, metavar="S", help="Where the draws come from (default 7)."),
    click.option("--greedy", is_flag=True, help="Take the best token: temperature 0."),
    click.option(
        "--temperature", type=float, metavar="T", help="Divides the logits (default 0.8)."
    ),
    click.option("--top-k", type=int, metavar="K", help="Keep the K best (default 40, 0 is off)."),
    click.option(
        "--top-p",
        type=float,
        metavar="P",
        help="Keep the fewest that reach probability P (default 0.95, 1 is off).",
    ),
    click.option(
        "--min-p",
        type=float,
        metavar="M",
        help="Keep what has at least M times the best one's probability (default 0.05, 0 is off).",
    ),
    click.option(
        "--repeat-penalty",
        type=float,
        metavar="R",
        help="Divide the logits of tokens seen (default 1, off).",
    ),
    click.option(
        "--frequency-penalty",
        type=float,
        metavar="F",
        help="Subtract F for each occurrence (default 0, off).",
    ),
    click.option(
        "--presence-penalty",
        type=float,
        metavar="F",
        help="Subtract F from tokens seen at all (default 0, off).",
    ),
    click.option(
        "--repeat-last-n",
        type=int,
        metavar="N",
        help="How far back the penalties look; -1 is everything "
        "(default: 64 in llama.cpp's order, everything in transformers').",
    ),
    click.option(
        "--logit-bias",
        callback=_logit_bias,
        multiple=True,
        metavar="ID=BIAS",
        help="Add to one token's logit; -inf bans it. May be given more than once.",
    ),
    click.option(
        "--order",
        type=click.Choice(["llamacpp", "transformers"]),
        help="Whose order and definitions the sampler follows (default llamacpp).",
    ),
)


def runtime_options(function: F) -> F:
    """Give a command --device, --dtype, --precision and --threads."""
    return _with(_RUNTIME_OPTIONS, function)


def sampler_options(function: F) -> F:
    """Give a command --seed and every setting of the sampler."""
    return _with(_SAMPLER_OPTIONS, function)


def read_settings_file() -> FileSettings:
    """Read what the person's settings file says.

    Raises:
        SettingsFileError: names the file, the key and what is allowed.
    """
    from tokenloop.app.keys import BY_ID
    from tokenloop.app.settings_file import read_settings

    return read_settings(BY_ID)


def sampler_settings(base: SamplerSettings, *, greedy: bool, **given: Any) -> SamplerSettings:
    """Put what was given on the command line over the settings that hold otherwise.

    Args:
        base: the settings file's, or the defaults.
        greedy: temperature 0.
        given: settings by name, ``None`` where the command line says nothing.

    Raises:
        click.UsageError: a setting has no meaning; names it and what is allowed.
    """
    from tokenloop.errors import SettingError

    if greedy and given.get("temperature"):
        raise click.UsageError("--greedy is temperature 0: give one or the other")
    changes = {name: value for name, value in given.items() if value is not None}
    if greedy:
        changes["temperature"] = 0.0
    try:
        return base.replace(**changes)
    except SettingError as error:
        raise click.UsageError(str(error)) from None


def seed_or_default(seed: int | None, file_seed: int | None) -> int:
    """Return the seed that holds: the command line's, the settings file's, or the default.

    Raises:
        click.UsageError: it is out of range.
    """
    from tokenloop.errors import SettingError
    from tokenloop.sampling.settings import DEFAULT_SEED, check_seed

    if seed is None:
        return DEFAULT_SEED if file_seed is None else file_seed
    try:
        return check_seed(seed)
    except SettingError as error:
        raise click.UsageError(str(error)) from None


def _with(options: tuple[Callable[[F], F], ...], function: F) -> F:
    for option in reversed(options):
        function = option(function)
    return function
