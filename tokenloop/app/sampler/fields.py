"""The settings as a person edits them: how each is written, read and nudged."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tokenloop.app.sampler.dials import Dials
from tokenloop.app.sampler.writing import (
    read_biases,
    read_breakers,
    read_number,
    read_order,
    read_whole,
    read_window,
    read_words,
    read_yes,
    write_biases,
    write_breakers,
    write_window,
    write_words,
    write_yes,
)
from tokenloop.app.settings_text import NoTextError, small_text
from tokenloop.errors import SettingError
from tokenloop.sampling import ORDER_NAMES, PARAMETERS, Parameter
from tokenloop.sampling.settings import GRAMMAR_KINDS

Nudge = Callable[[object, int], object | None]


@dataclass(frozen=True)
class Field:
    """One setting.

    Attributes:
        name: its name in :class:`SamplerSettings`, or ``seed``, ``grammar_kind``, ``grammar_text``.
        label: on the line that explains it.
        short: beside its value in a row; nothing where the row's name says it.
        help: one line.
        get: its value.
        put: the dials with another value; raises :class:`SettingError`.
        read: the value of what was typed; raises :class:`SettingError`.
        write: how a value is shown and edited.
        nudge: the value a step up or down; ``None`` where there is no such step.
        whole_text: whether it is applied when it is complete, not at each letter.
    """

    name: str
    label: str
    short: str
    help: str
    get: Callable[[Dials], object]
    put: Callable[[Dials, object], Dials]
    read: Callable[[str], object]
    write: Callable[[object], str] = str
    nudge: Nudge = lambda _value, _direction: None
    whole_text: bool = False

    def shown(self, dials: Dials) -> str:
        """Its value as text."""
        return self.write(self.get(dials))

    def typed(self, text: str, dials: Dials) -> Dials:
        """The dials with the value that was typed.

        Raises:
            SettingError: it is none, or not possible.
        """
        return self.put(dials, self.read(text))

    def nudged(self, dials: Dials, direction: int) -> Dials | None:
        """The dials with the value a step up or down; ``None`` at the end of its range."""
        value = self.nudge(self.get(dials), direction)
        if value is None:
            return None
        try:
            return self.put(dials, value)
        except SettingError:
            return None


def _steps(step: float) -> Nudge:
    """Steps that fall on multiples: 0.83 goes to 0.9 and to 0.8."""

    def nudge(value: object, direction: int) -> object | None:
        if not isinstance(value, int | float):
            return None
        steps = value / step
        turned = math.floor(steps + 1e-9) + 1 if direction > 0 else math.ceil(steps - 1e-9) - 1
        moved = turned * step
        return int(moved) if isinstance(value, int) else round(moved, 6)

    return nudge


def _window_steps(value: object, direction: int) -> object | None:
    """From the order's own window to 64 tokens and on; below 0 is all."""
    if value is None:
        return 64 if direction > 0 else None
    if value == -1:
        return 0 if direction > 0 else None
    moved = _steps(8)(value, direction)
    return -1 if isinstance(moved, int) and moved < 0 else moved


def _around(values: tuple[object, ...]) -> Nudge:
    def nudge(value: object, direction: int) -> object | None:
        return values[(values.index(value) + direction) % len(values)]

    return nudge


def _setting(name: str) -> tuple[Callable[[Dials], object], Callable[[Dials, object], Dials]]:
    return (
        lambda dials: getattr(dials.settings, name),
        lambda dials, value: dials.with_setting(name, value),
    )


def _special(
    name: str,
    label: str,
    short: str,
    says: str,
    read: Callable[[str], object],
    write: Callable[[object], str] = str,
    nudge: Nudge = lambda _value, _direction: None,
) -> Field:
    get, put = _setting(name)
    return Field(name, label, short, says, get, put, read, write, nudge)


SHORT = {
    "dynatemp_range": "±",
    "dynatemp_exponent": "exponent",
    "smoothing_curve": "curve",
    "xtc_probability": "p",
    "xtc_threshold": "≥",
    "repeat_penalty": "×",
    "frequency_penalty": "freq",
    "presence_penalty": "pres",
    "dry_multiplier": "×",
    "dry_base": "base",
    "dry_allowed_length": "over",
    "dry_penalty_last_n": "last",
    "mirostat": "v",
    "mirostat_tau": "τ",
    "mirostat_eta": "η",
}


def _numeric(parameter: Parameter) -> Field:
    name = parameter.name
    get, put = _setting(name)
    return Field(
        name,
        parameter.label,
        SHORT.get(name, ""),
        parameter.help,
        get,
        put,
        read_whole(name) if parameter.whole else read_number(name),
        lambda value: f"{value:g}" if isinstance(value, float) else str(value),
        _steps(parameter.step),
    )


def _read_grammar(text: str) -> object:
    """The grammar itself, or what the file behind an @ holds."""
    if not text.startswith("@"):
        return text
    name = text[1:].strip()
    try:
        return small_text(Path(name).expanduser())
    except NoTextError as error:
        raise SettingError("grammar", text, f"{name} {error}") from None
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SettingError("grammar", text, f"{name}: {reason}") from None


def _grammar_text(dials: Dials) -> object:
    grammar = dials.settings.grammar
    return grammar.text if grammar is not None else ""


def _read_kind(text: str) -> object:
    kind = text.strip().lower().replace(" ", "_").replace("json", "json_schema", 1)
    kind = kind.replace("json_schema_schema", "json_schema")
    if kind not in GRAMMAR_KINDS:
        raise SettingError("grammar", text, f"one of {', '.join(GRAMMAR_KINDS)}")
    return kind


ORDER = _special(
    "order",
    "order",
    "",
    "llamacpp or transformers: which stage comes when, and each one's definition",
    read_order,
    nudge=_around(ORDER_NAMES),
)
SEED = Field(
    "seed",
    "seed",
    "",
    "of the draws: the same seed, the same luck",
    lambda dials: dials.seed,
    lambda dials, value: dials.with_seed(value),
    read_whole("seed"),
    nudge=_steps(1),
)
GRAMMAR = (
    Field(
        "grammar_kind",
        "grammar's kind",
        "",
        f"how its text is read: {', '.join(GRAMMAR_KINDS)}",
        lambda dials: dials.settings.grammar.kind if dials.settings.grammar else dials.kind,
        lambda dials, value: dials.of_kind(value),  # type: ignore[arg-type]  # read by _read_kind
        _read_kind,
        nudge=_around(GRAMMAR_KINDS),
    ),
    Field(
        "grammar_text",
        "grammar",
        "",
        "enter writes it, or @ and a file's path; empty is none",
        _grammar_text,
        lambda dials, value: dials.with_grammar(str(value)),
        _read_grammar,
        whole_text=True,
    ),
)
EXTRA: dict[str, tuple[Field, ...]] = {
    "penalties": (
        _special(
            "repeat_last_n",
            "window",
            "last",
            "last tokens that the penalties look at: a number, all, or auto (the order's own)",
            read_window,
            write_window,
            _window_steps,
        ),
        _special(
            "penalize_prompt",
            "prompt counts",
            "prompt",
            "whether penalties, DRY and n-grams look at the prompt: yes or no",
            read_yes,
            write_yes,
            _around((True, False)),
        ),
    ),
    "dry": (
        _special(
            "dry_sequence_breakers",
            "DRY breakers",
            "breakers",
            r"texts that no repetition reaches across, between blanks; \n and \s are breaks",
            read_breakers,
            write_breakers,
        ),
    ),
    "logit_bias": (
        _special(
            "logit_bias",
            "logit bias",
            "",
            "id=number …, added to the logits; -inf bans · b < > in the table do it, too",
            read_biases,
            write_biases,
        ),
    ),
    "bad_words": (
        _special(
            "bad_words",
            "bad words",
            "",
            "token ids that must not come in a row: 260,314;504 (/ finds ids)",
            read_words,
            write_words,
        ),
    ),
    "grammar": GRAMMAR,
}
"""The fields of a stage that are no plain numbers."""


@cache
def fields_of(stage: str) -> tuple[Field, ...]:
    """All settings of a stage, the numbers first; with ``""``, those that are no stage's."""
    numbers = [_numeric(each) for each in PARAMETERS.values() if each.stage == stage]
    return (*numbers, *EXTRA.get(stage, ()))
