"""What a person adds to single tokens' logits, changed by one key. No Textual in here."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

BANNED = -math.inf
MOST = 1000.0


def toggled_ban(biases: Mapping[int, float], token_id: int) -> dict[int, float]:
    """The biases with a token banned; with its ban lifted, where it was."""
    others = {other: bias for other, bias in biases.items() if other != token_id}
    return others if biases.get(token_id) == BANNED else {**others, token_id: BANNED}


def changed(biases: Mapping[int, float], token_id: int, change: float) -> dict[int, float]:
    """The biases with one token's changed, within its range; a bias of 0 is none."""
    bias = min(MOST, max(-MOST, biases.get(token_id, 0.0) + change))
    others = {other: value for other, value in biases.items() if other != token_id}
    return {**others, token_id: bias} if bias else others
