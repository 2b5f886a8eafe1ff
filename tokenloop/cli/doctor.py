"""``tokenloop doctor``: what is there, what is wrong, and how to mend it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tokenloop.cli.exits import FAILED

if TYPE_CHECKING:
    from rich.text import Text

    from tokenloop.cli.checks import Finding

MARKS = {"good": ("✓", "green"), "note": ("•", "yellow"), "wrong": ("✗", "bold red")}


@click.command(short_help="Say what is wrong and how to mend it.")
def doctor() -> int:
    """Check Python, torch, the terminal and the models, and say how to mend what is wrong.

    Exits with 1 where something needed is broken.
    """
    from tokenloop.cli.checks import CHECKS
    from tokenloop.cli.paper import paper

    console = paper()
    wrong = 0
    for check in CHECKS:
        for finding in check():
            wrong += finding.state == "wrong"
            console.print(_line(finding), soft_wrap=True)
    console.print()
    console.print("everything needed is here" if not wrong else f"{wrong} to mend: see → above")
    return FAILED if wrong else 0


def _line(finding: Finding) -> Text:
    from rich.text import Text

    from tokenloop.labels import clean

    mark, style = MARKS[finding.state]
    line = Text()
    line.append(f"{mark} ", style=style)
    line.append(f"{finding.what:<12}", style="bold")
    line.append(clean(finding.text))
    if finding.remedy:
        line.append(f"\n{'':14}→ {clean(finding.remedy)}", style=style)
    return line
