"""Between text and token ids: from a ``tokenizer.json`` or from a GGUF's own metadata."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokenloop_models.tokenizer.tokenizer import Tokenizer

if TYPE_CHECKING:
    from tokenloop_models.checkpoint import Checkpoint

__all__ = ["Tokenizer", "load_tokenizer"]


def load_tokenizer(checkpoint: Checkpoint) -> Tokenizer:
    """Build the tokenizer that a checkpoint carries.

    Raises:
        ModelError: there is none, or it is of a kind that isn't known; nothing is guessed.
    """
    from tokenloop_models.gguf_checkpoint import GgufCheckpoint
    from tokenloop_models.safetensors_checkpoint import SafetensorsCheckpoint
    from tokenloop_models.tokenizer.from_gguf import tokenizer_from_gguf
    from tokenloop_models.tokenizer.from_json import tokenizer_from_folder

    if isinstance(checkpoint, GgufCheckpoint):
        return tokenizer_from_gguf(checkpoint.path, checkpoint.config)
    if isinstance(checkpoint, SafetensorsCheckpoint):
        return tokenizer_from_folder(checkpoint.folder, checkpoint.config)
    raise TypeError(f"no tokenizer is known for a {type(checkpoint).__name__}")
