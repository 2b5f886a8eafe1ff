"""The sampler's settings: plain values, checked once, then trusted."""

from __future__ import annotations

import math
from typing import Literal, get_args

from msgspec import Struct, structs

from tokenloop.errors import SettingError

Order = Literal["llamacpp", "transformers"]

ORDER_NAMES: tuple[Order, ...] = get_args(Order)

DEFAULT_SEED = 7
MAX_SEED = 2**64 - 1


class SamplerSettings(Struct, frozen=True, kw_only=True):
    """Every setting of the chain; the defaults are llama.cpp's.

    Attributes:
        order: which tradition's order and definitions the chain follows.
        temperature: divides the logits; 0 is greedy.
        top_k: keeps the k best; 0, or the vocabulary's size and more, is off.
        top_p: keeps the smallest set of at least this probability; 1 is off.
        min_p: keeps what has at least this part of the best one's probability; 0 is off.
        repeat_penalty: divides positive and multiplies negative logits of tokens seen; 1 is off.
        frequency_penalty, presence_penalty: subtracted per occurrence, and once; 0 is off.
        repeat_last_n: how many last tokens of the prefix the penalties look at; -1 is all of them,
            ``None`` is the order's own window (llama.cpp 64, transformers all).
        logit_bias: added to the logits, by token id; ``-inf`` bans.
    """

    order: Order = "llamacpp"
    temperature: float = 0.8
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    repeat_penalty: float = 1.0
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    repeat_last_n: int | None = None
    logit_bias: dict[int, float] = {}

    def __post_init__(self) -> None:
        """Refuse what has no meaning.

        Raises:
            SettingError: names the setting, its value and what is allowed.
        """
        if self.order not in ORDER_NAMES:
            raise SettingError("order", self.order, " or ".join(ORDER_NAMES))
        _number("temperature", self.temperature, 0.0, 100.0)
        _whole("top_k", self.top_k, 0, 2**31 - 1)
        _number("top_p", self.top_p, 0.0, 1.0)
        _number("min_p", self.min_p, 0.0, 1.0)
        _number("repeat_penalty", self.repeat_penalty, 0.01, 100.0)
        _number("frequency_penalty", self.frequency_penalty, -100.0, 100.0)
        _number("presence_penalty", self.presence_penalty, -100.0, 100.0)
        if self.repeat_last_n is not None:
            _whole("repeat_last_n", self.repeat_last_n, -1, 2**31 - 1)
        for token_id, bias in self.logit_bias.items():
            _whole("logit_bias", token_id, 0, 2**31 - 1)
            if bias != -math.inf:
                _number("logit_bias", bias, -1000.0, 1000.0)

    @property
    def greedy(self) -> bool:
        """Whether nothing is drawn: T = 0 takes the best survivor."""
        return self.temperature == 0

    def replace(self, **changes: object) -> SamplerSettings:
        """The same settings with some changed, checked again.

        Raises:
            SettingError: as at construction.
        """
        return structs.replace(self, **changes)


def check_seed(seed: int) -> int:
    """Return ``seed`` if it is usable.

    Raises:
        SettingError: when it is no whole number in [0, 2**64).
    """
    _whole("seed", seed, 0, MAX_SEED)
    return seed


def _number(name: str, value: object, low: float, high: float) -> None:
    # NaN is in no range: every comparison with it fails.
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise SettingError(name, value, f"a number from {low:g} to {high:g}")


def _whole(name: str, value: object, low: int, high: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise SettingError(name, value, f"a whole number from {low} to {high}")
