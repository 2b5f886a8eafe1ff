"""Short texts for people: the model's line, progress, where work stands. No Textual in here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokenloop.app.safety import strip_controls
from tokenloop.counting import counted
from tokenloop_models.sizes import file_size

if TYPE_CHECKING:
    from tokenloop.loop.events import Progress
    from tokenloop.records import CheckRecord, ModelInfo

BAR_CELLS = 10


def one_line(text: str) -> str:
    """A name from a file or a path, on one line and safe for a terminal."""
    return strip_controls(" ".join(text.split()))


def arithmetic(model: ModelInfo) -> tuple[str, ...]:
    """What its passes compute in: the dtype, and whether the weights stay packed."""
    return (model.dtype, "packed weights") if model.precision == "fast" else (model.dtype,)


def model_facts(model: ModelInfo) -> tuple[str, ...]:
    """What runs how: device, dtype, threads, the file's quantisation."""
    facts = [model.device, *arithmetic(model)]
    if model.device == "cpu":
        facts.append(counted(model.threads, "thread"))
    if model.quantisation:
        facts.append(f"{model.quantisation} file")
    return tuple(one_line(fact) for fact in facts)


def checked_line(check: CheckRecord) -> str:
    """What the self-check found, for people."""
    against = f"against {check.positions:,} positions afresh in float32"
    fate = (
        f"the draw stays {check.chosen.label}"
        if check.same_token
        else f"the draw would be {check.fresh_chosen.label}, not {check.chosen.label}"
    )
    return f"largest |Δlogit| {check.largest_logit_diff:.6f} {against}: {fate}"


def progress_words(progress: Progress | None) -> str:
    """Where long work stands ("loading ▓▓▓░░░░░░░ 31 %"); nothing where it is not known."""
    if progress is None:
        return ""
    if not progress.total:
        return f"{one_line(progress.what)} {amount(progress.done, progress.unit)}".rstrip()
    done = min(max(progress.done / progress.total, 0.0), 1.0)
    filled = round(done * BAR_CELLS)
    bar = "▓" * filled + "░" * (BAR_CELLS - filled)
    if progress.unit in ("bytes", "byte", "B"):
        return f"{one_line(progress.what)} {bar} {done:4.0%}"
    return (
        f"{one_line(progress.what)} {bar} {progress.done:,} of {progress.total:,} {progress.unit}"
    )


def amount(done: int, unit: str) -> str:
    """A count with its unit; bytes in the unit that suits them."""
    return file_size(done) if unit in ("bytes", "byte", "B") else f"{done:,} {unit}"
