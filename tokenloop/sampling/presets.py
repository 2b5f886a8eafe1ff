"""Ready-made settings of the sampler, by name."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from tokenloop.sampling.settings import SamplerSettings


class Preset(Struct, frozen=True, kw_only=True):
    """Settings that go together.

    Attributes:
        name: as on the command line and in the settings file.
        label: on the screen.
        help: one line.
        settings: all of them.
    """

    name: str
    label: str
    help: str
    settings: SamplerSettings


_ALL = (
    # common_params_sampling in llama.cpp's common/common.h: SamplerSettings has them as defaults.
    Preset(
        name="llamacpp",
        label="llama.cpp defaults",
        help="T 0.8 last, after top-k 40, top-p 0.95 and min-p 0.05",
        settings=SamplerSettings(),
    ),
    # GenerationConfig._get_default_generation_params in transformers, with do_sample=True.
    Preset(
        name="transformers",
        label="transformers defaults",
        help="T 1 first, then top-k 50 alone",
        settings=SamplerSettings(
            order="transformers", temperature=1.0, top_k=50, top_p=1.0, min_p=0.0
        ),
    ),
    Preset(
        name="greedy",
        label="greedy",
        help="always the best token: nothing is drawn",
        settings=SamplerSettings(temperature=0.0),
    ),
    # The values that the authors of XTC and DRY recommend; min-p as in Nguyen et al. 2024.
    Preset(
        name="creative",
        label="creative",
        help="T 1.2 over what min-p 0.05 leaves; XTC and DRY against the obvious and the repeated",
        settings=SamplerSettings(
            temperature=1.2,
            top_k=0,
            top_p=1.0,
            min_p=0.05,
            xtc_probability=0.5,
            xtc_threshold=0.1,
            dry_multiplier=0.8,
        ),
    ),
    Preset(
        name="precise",
        label="precise",
        help="T 0.3 over the few that are likely: top-k 20, top-p 0.8, min-p 0.1",
        settings=SamplerSettings(temperature=0.3, top_k=20, top_p=0.8, min_p=0.1),
    ),
)

PRESETS: dict[str, Preset] = {preset.name: preset for preset in _ALL}
"""Every ready-made preset by name; a person's own stand in the settings file."""


def settings_by_name(own: Mapping[str, SamplerSettings]) -> dict[str, SamplerSettings]:
    """The settings of the ready-made presets and of a person's own."""
    return {**{preset.name: preset.settings for preset in PRESETS.values()}, **own}
