"""What may stand behind an option or for an argument, with its completion."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import click
from click.shell_completion import CompletionItem

T = TypeVar("T")

IDS = re.compile(r"\s*\d{1,18}((\s*,\s*|\s+)\d{1,18})*\s*", re.ASCII)


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


class IdsType(click.ParamType[list[int]]):
    """Token ids between commas or spaces."""

    name = "ids"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[int]:
        """Give the ids.

        Raises:
            click.BadParameter: it is no list of ids.
        """
        if isinstance(value, list):
            return value
        if not IDS.fullmatch(value):
            self.fail(f"{value!r} is not a list of token ids such as 504,3575,282", param, ctx)
        return [int(part) for part in value.replace(",", " ").split()]


Known = Callable[[], Iterable[tuple[str, str]]]
"""Gives the names that there are, with what each means."""


class _KnownType(click.ParamType[T]):
    """Names of which some are known; whether one exists is for the command to say.

    Args:
        known: what completion offers.
    """

    def __init__(self, known: Known) -> None:
        self._known = known

    def offered(self, before: str, incomplete: str) -> list[CompletionItem]:
        """The known names that begin so, behind what stands before them."""
        return [
            CompletionItem(f"{before}{name}", help=says)
            for name, says in self._known()
            if name.startswith(incomplete)
        ]


class NameType(_KnownType[str]):
    """One name; completes it."""

    name = "name"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Offer the names."""
        return self.offered("", incomplete)


class NamesType(_KnownType[tuple[str, ...]]):
    """Names between commas; completes the last of them."""

    name = "names"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """Give the names."""
        if isinstance(value, tuple):
            return value
        return tuple(name.strip() for name in value.split(","))

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Offer the names for the last place."""
        before, comma, last = incomplete.rpartition(",")
        return self.offered(before + comma, last)
