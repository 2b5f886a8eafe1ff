"""Were a setting lost, the comparisons with the reference would see it: each changes the logits."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.models.families.shapes import SHAPES
from tests.models.families.test_parity import IDS, TOLERANCE, every_logit
from tokenloop_models import load, loading

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.models.families.reference import Reference
    from tokenloop_models.config import DecoderConfig, LayerConfig

PLAIN = {
    "embedding_scale": 1.0,
    "residual_scale": 1.0,
    "logit_scale": 1.0,
    "logit_cap": None,
    "attention_cap": None,
}
PLAIN_LAYER = {"window": None, "attention_scale": None, "rotary": None}


def without(config: DecoderConfig) -> dict[str, DecoderConfig]:
    """The same decoder without each of the things that are special about it, by what is gone."""
    less = {
        name: replace(config, **{name: value})
        for name, value in PLAIN.items()
        if getattr(config, name) != value
    }
    other = "silu" if config.activation == "relu" else "relu"
    less["activation"] = replace(config, activation=other)
    for name, value in PLAIN_LAYER.items():
        if any(_value(config, layer, name) != value for layer in config.layers):
            less[name] = _each(config, **{name: value})
    rotaries = dict.fromkeys(layer.rotary for layer in config.layers)
    if len(rotaries) > 1:
        less["a rotary of its own"] = _each(config, rotary=next(iter(rotaries)))
    for layer in config.layers:
        if layer.rotary is not None and layer.rotary.magnitude != 1:
            less["magnitude"] = _each(config, rotary=replace(layer.rotary, magnitude=1.0))
        if layer.experts is not None and layer == config.layers[0]:
            fewer = replace(layer.experts, used=layer.experts.used - 1)
            less["experts used"] = _each(config, experts=fewer)
            turned = replace(layer.experts, renormalised=not layer.experts.renormalised)
            less["renormalised"] = _each(config, experts=turned)
    return less


def _each(config: DecoderConfig, **changes: Any) -> DecoderConfig:
    return config.each_layer(lambda _, layer: replace(layer, **changes))


def _value(config: DecoderConfig, layer: LayerConfig, name: str) -> object:
    """A layer's setting; the usual attention scale, even where it is given, counts as none."""
    value = getattr(layer, name)
    usual = name == "attention_scale" and value == 1 / math.sqrt(config.head_dim)
    return None if usual else value


@pytest.mark.parametrize("name", SHAPES)
def test_each_setting_changes_the_logits(
    reference: Callable[[str], Reference], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = reference(name).folder
    read = loading.read_config
    configs: list[DecoderConfig] = []
    monkeypatch.setattr(
        loading, "read_config", lambda *each: configs.append(read(*each)) or configs[0]
    )
    expected = every_logit(load(folder, device="cpu"), IDS)
    for what, less in without(configs[0]).items():
        monkeypatch.setattr(loading, "read_config", lambda *_, less=less: less)
        difference = np.abs(every_logit(load(folder, device="cpu"), IDS) - expected).max()
        assert difference > 10 * TOLERANCE, what
