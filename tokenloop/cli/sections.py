"""Help in sections: a command's many options under headings of their own."""

from __future__ import annotations

from typing import Any

import click


class SectionedOption(click.Option):
    """An option that stands under a heading of its command's help.

    Args:
        section: the heading.
    """

    def __init__(self, *args: Any, section: str, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.section = section


class SectionedCommand(click.Command):
    """A command whose help shows its options by section."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options without a section first, then each section in its first one's place."""
        write_sections(self.get_params(ctx), ctx, formatter)


def write_sections(
    params: list[click.Parameter], ctx: click.Context, formatter: click.HelpFormatter
) -> None:
    """Write the help of options, a heading for each section.

    Args:
        params: of a command; arguments are left out.
        ctx: the command's.
        formatter: what is written to.
    """
    sections: dict[str, list[tuple[str, str]]] = {"Options": []}
    for param in params:
        record = param.get_help_record(ctx)
        if record is not None and isinstance(param, click.Option):
            heading = param.section if isinstance(param, SectionedOption) else "Options"
            sections.setdefault(heading, []).append(record)
    for heading, records in sections.items():
        if records:
            with formatter.section(heading):
                formatter.write_dl(records)
