"""The sampler panel's fields: how each setting is written, read and nudged. No Textual in here."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokenloop.errors import SettingError
from tokenloop.sampling import ORDER_NAMES, SamplerSettings, check_seed

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Field:
    """One setting as a person edits it.

    Attributes:
        name: its name in :class:`SamplerSettings`, or ``seed``.
        label: on screen.
        help: one line.
        step: what ← and → change it by; 0 where nothing can be nudged.
        read: the value of what was typed; raises :class:`SettingError`.
        write: how a value is shown.
    """

    name: str
    label: str
    help: str
    step: float
    read: Callable[[str], object]
    write: Callable[[object], str]

    def value_of(self, settings: SamplerSettings, seed: int) -> object:
        """The setting's value."""
        return seed if self.name == "seed" else getattr(settings, self.name)

    def nudged(self, settings: SamplerSettings, seed: int, direction: int) -> object | None:
        """The value one step up or down, ``None`` where there is no such step.

        Steps fall on multiples: 0.83 goes to 0.9 and to 0.8.
        """
        value = self.value_of(settings, seed)
        if self.name == "order":
            here = ORDER_NAMES.index(settings.order)
            return ORDER_NAMES[(here + direction) % len(ORDER_NAMES)]
        if not self.step or isinstance(value, dict):
            return None
        if value is None:
            return 64 if direction > 0 else None
        assert isinstance(value, int | float)  # a field of dictionaries has no step
        steps = value / self.step
        turned = math.floor(steps + 1e-9) + 1 if direction > 0 else math.ceil(steps - 1e-9) - 1
        moved = turned * self.step
        return int(moved) if isinstance(value, int) else round(moved, 6)

    def apply(
        self, value: object, settings: SamplerSettings, seed: int
    ) -> tuple[SamplerSettings, int]:
        """The settings and the seed with this one changed.

        Raises:
            SettingError: the value is not possible.
        """
        if self.name == "seed":
            return settings, check_seed(value if isinstance(value, int) else -1)
        return settings.replace(**{self.name: value}), seed


def _number(name: str) -> Callable[[str], object]:
    def read(text: str) -> object:
        try:
            return float(text.strip().replace(",", "."))
        except ValueError:
            raise SettingError(name, text, "a number") from None

    return read


def _whole(name: str) -> Callable[[str], object]:
    def read(text: str) -> object:
        try:
            return int(text.strip().replace(",", "").replace("_", ""))
        except ValueError:
            raise SettingError(name, text, "a whole number") from None

    return read


def _read_order(text: str) -> object:
    return text.strip().lower().replace("llama.cpp", "llamacpp")


def _read_window(text: str) -> object:
    word = text.strip().lower()
    if word in ("", "auto"):
        return None
    if word == "all":
        return -1
    try:
        return int(word)
    except ValueError:
        raise SettingError("repeat_last_n", text, "a whole number, all, or auto") from None


def _write_window(value: object) -> str:
    return "auto" if value is None else "all" if value == -1 else str(value)


def _read_biases(text: str) -> object:
    biases: dict[int, float] = {}
    for part in text.replace(",", " ").split():
        token_id, _, bias = part.partition("=")
        try:
            biases[int(token_id)] = float(bias)
        except ValueError:
            raise SettingError(
                "logit_bias", part, "id=number, such as 16570=-2 or 260=-inf"
            ) from None
    return biases


def _write_biases(value: object) -> str:
    assert isinstance(value, dict)  # by the field's name
    return " ".join(f"{token_id}={bias:g}" for token_id, bias in value.items())


def _write_number(value: object) -> str:
    return f"{value:g}"


FIELDS: tuple[Field, ...] = (
    Field(
        "temperature",
        "temperature",
        "divides the logits; 0 is greedy",
        0.1,
        _number("temperature"),
        _write_number,
    ),
    Field("top_k", "top-k", "keeps the k best; 0 is off", 1, _whole("top_k"), str),
    Field(
        "top_p",
        "top-p",
        "keeps the smallest set of this probability; 1 is off",
        0.05,
        _number("top_p"),
        _write_number,
    ),
    Field(
        "min_p",
        "min-p",
        "keeps what has this part of the best one's probability; 0 is off",
        0.01,
        _number("min_p"),
        _write_number,
    ),
    Field(
        "repeat_penalty",
        "repeat penalty",
        "makes tokens seen less likely; 1 is off",
        0.05,
        _number("repeat_penalty"),
        _write_number,
    ),
    Field(
        "frequency_penalty",
        "frequency",
        "subtracted for each time seen; 0 is off",
        0.1,
        _number("frequency_penalty"),
        _write_number,
    ),
    Field(
        "presence_penalty",
        "presence",
        "subtracted once where seen; 0 is off",
        0.1,
        _number("presence_penalty"),
        _write_number,
    ),
    Field(
        "repeat_last_n",
        "window",
        "last tokens that the penalties look at: a number, all, or auto",
        8,
        _read_window,
        _write_window,
    ),
    Field(
        "order", "order", "llamacpp or transformers: which stage comes when", 1, _read_order, str
    ),
    Field("seed", "seed", "of the draws: the same seed, the same luck", 1, _whole("seed"), str),
    Field(
        "logit_bias",
        "logit bias",
        "id=number …, added to the logits; -inf bans",
        0,
        _read_biases,
        _write_biases,
    ),
)
