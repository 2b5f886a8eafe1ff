"""The presets: what they are called, and that the two traditions' are theirs."""

from __future__ import annotations

import pytest
from transformers import GenerationConfig

from tokenloop.sampling import PRESETS, SamplerSettings
from tokenloop.sampling.presets import Preset


def test_the_presets_are_these() -> None:
    assert list(PRESETS) == ["llamacpp", "transformers", "greedy", "creative", "precise"]


@pytest.mark.parametrize("preset", PRESETS.values(), ids=lambda preset: preset.name)
def test_a_preset_says_in_one_line_what_it_does(preset: Preset) -> None:
    assert PRESETS[preset.name] is preset
    assert 0 < len(preset.help) <= 90
    assert "\n" not in preset.help


def test_llama_cpps_preset_is_the_default() -> None:
    assert PRESETS["llamacpp"].settings == SamplerSettings()


def test_transformers_preset_has_its_defaults() -> None:
    theirs = GenerationConfig._get_default_generation_params()
    ours = PRESETS["transformers"].settings
    assert ours.order == "transformers"
    assert ours.repeat_penalty == theirs["repetition_penalty"]
    for name in ("temperature", "top_k", "top_p", "typical_p", "no_repeat_ngram_size"):
        assert getattr(ours, name) == theirs[name]
    for name in ("min_p", "epsilon_cutoff", "eta_cutoff"):
        assert getattr(ours, name) == (theirs.get(name) or 0)


def test_greedy_draws_nothing_and_the_others_do() -> None:
    assert [name for name, preset in PRESETS.items() if preset.settings.greedy] == ["greedy"]
