"""Tiny random models of the reference implementation, as the folders that it saves them in.

Its own classes make the configurations and the weights, so that names, defaults and spellings in
the files are those that real checkpoints have.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from tests.tiny_model import vocabulary, write_tokenizer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray
    from transformers import PreTrainedModel

SIZES: dict[str, Any] = {
    "vocab_size": len(vocabulary()),
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 3,
    "num_attention_heads": 4,
    "max_position_embeddings": 64,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": None,
}


@dataclass(frozen=True)
class Reference:
    """A model of the reference implementation, and where it was saved.

    Attributes:
        model: ready to run, in float32.
        folder: its ``config.json``, weights and tokenizer.
    """

    model: PreTrainedModel
    folder: Path

    def logits(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """After each position, of one pass over all ids: (positions, vocabulary)."""
        with torch.inference_mode():
            return self.model(torch.tensor([list(ids)]), use_cache=False).logits[0].numpy()

    def fresh(self, ids: Sequence[int]) -> NDArray[np.float32]:
        """The same of a model that has seen no longer text before: it remembers their lengths."""
        self.logits(ids[:1])
        return self.logits(ids)


@dataclass(frozen=True)
class Shape:
    """A shape of a family to try.

    Attributes:
        model_type: whose.
        changes: of the configuration, beside the tiny sizes.
        gguf: whether a GGUF can hold it.
        extra: metadata that its converter doesn't write but that readers know, by name without
            the architecture.
    """

    model_type: str
    changes: dict[str, Any] = field(default_factory=dict)
    gguf: bool = True
    extra: dict[str, Any] = field(default_factory=dict)


def make(shape: Shape, folder: Path) -> Reference:
    """Make a model with random weights and save it."""
    import transformers

    config = transformers.AutoConfig.for_model(shape.model_type, **SIZES | shape.changes)
    model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation="eager")
    randomise(model)
    model.eval().save_pretrained(folder)
    write_tokenizer(folder)
    return Reference(model, folder)


def randomise(model: torch.nn.Module, seed: int = 0) -> None:
    """Give weights a size at which every one of them matters; norms stay around what they were."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            noise = torch.randn(weight.shape, generator=generator)
            if "embed" in name or "wte" in name or "wpe" in name:
                weight.copy_(noise)
            elif weight.dim() > 1:
                weight.copy_(noise * 1.5 / weight.shape[-1] ** 0.5)
            else:
                weight.add_(0.2 * noise)
