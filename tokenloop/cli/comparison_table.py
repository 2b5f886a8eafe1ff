"""Two samplers on the same logits, as a table for reading."""

from __future__ import annotations

from rich.console import Group, RenderableType
from rich.text import Text

from tokenloop.cli.figures import CUT, MODEL, SAMPLER, percent, table_of
from tokenloop.cli.stage_lines import headed, stage_lines
from tokenloop.cli.step_table import chosen_words
from tokenloop.counting import counted
from tokenloop.records import ChainRecord, ComparedCandidate, Comparison
from tokenloop.sampling.settings import SamplerSettings


def comparison_table(
    comparison: Comparison, left: SamplerSettings, right: SamplerSettings
) -> RenderableType:
    """Lay out both sides' probabilities, their difference, and what each side's stages did.

    Args:
        comparison: of the two.
        left: the settings of its left side.
        right: those of its right side.
    """
    names = comparison.left.name, comparison.right.name
    table = table_of(
        (
            ("rank", "right", 5, ""),
            ("id", "right", 6, ""),
            ("token", "left", 14, ""),
            ("model", "right", 8, MODEL),
            (names[0], "right", 12, SAMPLER),
            (names[1], "right", 12, SAMPLER),
            ("difference", "right", 10, ""),
        )
    )
    for candidate in comparison.candidates:
        table.add_row(*_cells(candidate))
    kept = comparison.only_left + comparison.only_right + comparison.both
    if kept > len(comparison.candidates):
        table.add_row("", "", Text(f"… {kept - len(comparison.candidates):,} more", CUT))
    return Group(
        Text(f"position {comparison.position} · {names[0]} against {names[1]}"),
        table,
        Text(
            f"both keep {comparison.both:,} · only {names[0]} {comparison.only_left:,} · "
            f"only {names[1]} {comparison.only_right:,} · they disagree on "
            f"{percent(comparison.total_variation)} of the probability"
        ),
        *_side(comparison.left, left),
        *_side(comparison.right, right),
        Text(),
    )


def _cells(candidate: ComparedCandidate) -> list[Text]:
    difference = (candidate.right_p - candidate.left_p) * 100
    return [
        Text(f"{candidate.rank:,}"),
        Text(str(candidate.id)),
        Text(candidate.label, overflow="fold"),
        Text(percent(candidate.p)),
        _final(candidate.left_p, candidate.left_cut_by),
        _final(candidate.right_p, candidate.right_cut_by),
        Text(f"{difference:+.2f}".replace("-", "−")),
    ]


def _final(p: float, cut_by: str | None) -> Text:
    return Text(f"✗ {cut_by}", CUT) if cut_by else Text(percent(p))


def _side(chain: ChainRecord, settings: SamplerSettings) -> list[Text]:
    kept = f"keeps {counted(chain.survivors, 'candidate')}, {chain.entropy_bits:.2f} bits · next "
    heading = Text(f"{chain.name} in {chain.order} order: {kept}")
    return [
        Text(),
        heading + chosen_words(chain.chosen, chain.draw),
        *headed("sampler", stage_lines(chain.stages, settings)),
    ]
