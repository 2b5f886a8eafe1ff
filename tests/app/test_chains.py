"""Which chains the view of two orders offers."""

from __future__ import annotations

from tokenloop.app.screens.laboratory.chains import chains_for
from tokenloop.sampling import PARAMETERS, SamplerSettings
from tokenloop.sampling.presets import PRESETS


def test_ones_own_settings_come_first_in_both_orders() -> None:
    mine = SamplerSettings(temperature=1.3, stages=("min_p", "temperature"), off=("min_p",))
    llamacpp, transformers, yours, *_ = chains_for(mine, {})
    assert (llamacpp.settings.order, transformers.settings.order) == ("llamacpp", "transformers")
    assert llamacpp.settings.stages == transformers.settings.stages == ()
    assert yours.settings is mine
    for name in PARAMETERS:
        values = {getattr(one.settings, name) for one in (llamacpp, transformers, yours)}
        assert len(values) == 1


def test_presets_follow_and_ones_own_take_the_place_of_their_namesakes() -> None:
    own = {"creative": SamplerSettings(temperature=1.9), "mine": SamplerSettings(top_k=3)}
    chains = chains_for(SamplerSettings(), own)
    names = [chain.name for chain in chains]
    assert len(names) == 3 + len(PRESETS) - 1 + 2
    assert len(set(names)) == len(names)
    assert next(one for one in chains if one.name == "creative").settings.temperature == 1.9
