"""The settings of published models are understood, and mean what their makers say they mean."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.models.families.published import PUBLISHED
from tokenloop_models.families import MODEL_TYPES, family_of, read_config
from tokenloop_models.parts.rope import LongRope
from tokenloop_models.roles import roles_of_layer, roles_once

if TYPE_CHECKING:
    from tokenloop_models.config import DecoderConfig


@dataclass(frozen=True)
class JustSettings:
    """A checkpoint of which only the settings are there."""

    config: dict[str, Any]
    path: Path = Path("model.safetensors")
    format: str = "safetensors"

    @property
    def architecture(self) -> str:
        return str(self.config["model_type"])


def read(name: str) -> DecoderConfig:
    checkpoint: Any = JustSettings(PUBLISHED[name])
    return read_config(checkpoint, family_of(checkpoint))


def parameters(config: DecoderConfig) -> int:
    """How many numbers the weights are, without biases."""
    layers = [roles_of_layer(config, layer) for layer in config.layers]
    shapes = [*roles_once(config).values(), *(shape for one in layers for shape in one.values())]
    return sum(_size(shape) for shape in shapes)


def _size(shape: tuple[int, ...]) -> int:
    return shape[0] * _size(shape[1:]) if shape else 1


@pytest.mark.parametrize(
    ("name", "millions"),
    {
        "distilgpt2": 81.9,
        "pythia-70m": 70.4,
        "opt-125m": 125.2,
        "Llama-3.2-1B": 1235.8,
        "Mistral-7B-v0.1": 7241.7,
        "Mixtral-8x7B-v0.1": 46702.8,
        "Qwen2.5-0.5B": 494.0,
        "Qwen3-0.6B": 596.0,
        "Qwen3-30B-A3B": 30532.1,
        "gemma-2b": 2506.2,
        "gemma-2-2b": 2614.3,
        "gemma-3-1b-it": 999.9,
        "gemma-3-4b-it": 3880.3,
        "phi-2": 2779.7,
        "Phi-3-mini-4k-instruct": 3821.1,
        "Phi-4-mini-instruct": 3836.0,
        "OLMo-2-0425-1B": 1484.9,
        "OLMoE-1B-7B-0924": 6919.2,
        "SmolLM3-3B": 3075.1,
        "granite-3.3-2b-instruct": 2533.5,
        "starcoder2-15b": 15957.9,
        "stablelm-2-1_6b": 1644.5,
    }.items(),
)
def test_a_published_model_has_the_size_that_it_is_known_for(name: str, millions: float) -> None:
    assert parameters(read(name)) / 1e6 == pytest.approx(millions, rel=2e-3)


def test_every_family_is_among_them() -> None:
    families = {MODEL_TYPES[settings["model_type"]].name for settings in PUBLISHED.values()}
    assert families == {family.name for family in MODEL_TYPES.values()}


def test_windows_are_where_they_are_said_to_be() -> None:
    def windows(name: str) -> list[int | None]:
        return [layer.window for layer in read(name).layers]

    assert windows("Mistral-7B-v0.1") == [4096] * 32
    assert windows("Qwen2.5-0.5B") == [None] * 24
    assert windows("gemma-2-2b") == [4096, None] * 13
    assert windows("gemma-3-1b-it") == [512, 512, 512, 512, 512, None] * 4 + [512, 512]
    assert windows("TinyStories-33M") == [None, 256] * 2
    assert windows("Phi-3-mini-4k-instruct") == [2047] * 32


def test_gemma_3_turns_near_positions_faster_than_far_ones() -> None:
    config = read("gemma-3-4b-it")
    near, far = config.layers[0].rotary, config.layers[5].rotary
    assert near is not None
    assert far is not None
    assert near.frequencies.at(0)[1] == pytest.approx(10_000 ** (-2 / 256))
    assert far.frequencies.at(0)[1] == pytest.approx(1_000_000 ** (-2 / 256) / 8)
    assert config.layers[0].attention_scale == 1 / 16
    assert config.activation == "gelu_pytorch_tanh"


def test_phi_4_mini_changes_to_long_positions_after_4096() -> None:
    config = read("Phi-4-mini-instruct")
    rotary = config.layers[0].rotary
    assert rotary is not None
    assert isinstance(rotary.frequencies, LongRope)
    assert (rotary.frequencies.original, rotary.pairs) == (4096, 48)
    assert rotary.magnitude == pytest.approx(1.1902, rel=1e-4)
    assert config.context_length == 131_072


def test_smollm_3_does_not_turn_every_fourth_layer() -> None:
    turns = [layer.rotary is not None for layer in read("SmolLM3-3B").layers]
    assert turns == [True, True, True, False] * 9


def test_granite_has_four_multipliers() -> None:
    config = read("granite-3.3-2b-instruct")
    assert config.layers[0].attention_scale == 0.015625
    multipliers = (config.embedding_scale, config.residual_scale, config.logit_scale)
    assert multipliers == (12.0, 0.22, 1 / 8)


def test_gemma_s_older_files_name_two_activations() -> None:
    assert read("gemma-2b").activation == "gelu_pytorch_tanh"
