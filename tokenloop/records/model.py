"""What runs, and how its numbers compare with those computed afresh."""

from __future__ import annotations

from msgspec import Struct

from tokenloop.records.steps import Token


class ModelInfo(Struct, frozen=True, kw_only=True):
    """What the screen says of the model.

    Attributes:
        name: for people ("SmolLM2-135M-Instruct").
        family: architecture ("llama").
        device, dtype, threads: what it runs on ("cpu", "float32", 2).
        quantisation: of the file ("Q4_1"), or ``None`` where it holds plain floats.
        parameters, layers, kv_heads, head_dim, vocab_size, context_length: its size.
        fingerprint: identifies the weights' file.
        eos_ids: tokens that end a text.
        notices: what a person must know before trusting its numbers; mostly empty.
        precision: ``exact``, or ``fast``: a file's blocks stay packed, products round.
    """

    name: str
    family: str
    device: str
    dtype: str
    threads: int
    quantisation: str | None
    parameters: int
    layers: int
    kv_heads: int
    head_dim: int
    vocab_size: int
    context_length: int
    fingerprint: str
    eos_ids: tuple[int, ...]
    notices: tuple[str, ...] = ()
    precision: str = "exact"

    @property
    def exact(self) -> bool:
        """Whether its passes are those that others are compared with."""
        return self.dtype == "float32" and self.precision == "exact"


class CheckRecord(Struct, frozen=True, kw_only=True):
    """The held logits against the same prefix computed afresh in float32, without a cache.

    Attributes:
        positions: tokens of the prefix.
        dtype: what the session's passes ran in.
        largest_logit_diff: the largest difference of any candidate's logit.
        at: the candidate with that difference.
        largest_p_diff: the largest difference of any candidate's raw probability.
        chosen: what the session's draw falls on.
        fresh_chosen: what the same draw falls on afresh.
        fresh_ms: what computing it afresh took.
    """

    positions: int
    dtype: str
    largest_logit_diff: float
    at: Token
    largest_p_diff: float
    chosen: Token
    fresh_chosen: Token
    fresh_ms: float

    @property
    def same_token(self) -> bool:
        """Whether the chosen token stays the same."""
        return self.chosen.id == self.fresh_chosen.id
