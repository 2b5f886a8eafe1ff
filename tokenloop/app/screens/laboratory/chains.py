"""The chains that can be compared: the person's settings in either order, and every preset."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tokenloop.sampling.presets import PRESETS
from tokenloop_widgets import ORDER_NAMES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tokenloop.sampling.settings import SamplerSettings


@dataclass(frozen=True)
class Chain:
    """Settings under the name that the view gives them."""

    name: str
    settings: SamplerSettings


def chains_for(settings: SamplerSettings, own: Mapping[str, SamplerSettings]) -> tuple[Chain, ...]:
    """What either side may show; the first two are what is compared at first.

    Args:
        settings: the session's.
        own: the person's own presets, by name; one that is named like a ready-made one takes its
            place.
    """
    ready = [preset for name, preset in PRESETS.items() if name not in own]
    return (
        *(
            Chain(name, settings.replace(order=order, stages=()))
            for order, name in ORDER_NAMES.items()
        ),
        Chain("yours", settings),
        *(Chain(preset.label, preset.settings) for preset in ready),
        *(Chain(name, chosen) for name, chosen in own.items()),
    )
