"""A checkpoint's weights by what they do, checked as a whole before the first one is read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import torch

from tokenloop_models.errors import ModelError, quoted
from tokenloop_models.file_kinds import shown
from tokenloop_models.parts.rope import interleaved

if TYPE_CHECKING:
    from collections.abc import Callable

    from tokenloop_models.checkpoint import Checkpoint
    from tokenloop_models.config import DecoderConfig
    from tokenloop_models.families.family import Family

Shape = tuple[int, ...]


def roles(config: DecoderConfig) -> tuple[dict[str, Shape], dict[str, Shape]]:
    """What weights a decoder is made of: those it has once, and those of each layer.

    Returns:
        Role → shape of the weight, in torch's order (rows, columns).
    """
    hidden, inside = config.hidden, config.intermediate
    wide, narrow = config.heads * config.head_dim, config.kv_heads * config.head_dim
    once: dict[str, Shape] = {"embedding": (config.vocab_size, hidden), "norm": (hidden,)}
    if not config.tied_head:
        once["head"] = (config.vocab_size, hidden)
    layer: dict[str, Shape] = {
        "attention_norm": (hidden,),
        "q": (wide, hidden),
        "k": (narrow, hidden),
        "v": (narrow, hidden),
        "o": (hidden, wide),
        "mlp_norm": (hidden,),
        "gate": (inside, hidden),
        "up": (inside, hidden),
        "down": (hidden, inside),
    }
    return once, layer


class Weights:
    """The weights of one checkpoint, by role.

    Attributes:
        parameters: how many numbers they are in all; a tied head counts once.
        count: how many tensors they are.
    """

    def __init__(
        self,
        checkpoint: Checkpoint,
        family: Family,
        config: DecoderConfig,
        dtype: torch.dtype,
        device: torch.device,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> None:
        """Check names and shapes of all tensors.

        Raises:
            ModelError: one is missing, has another shape, or is there and not known.
        """
        self._checkpoint = checkpoint
        self._names = family.names[checkpoint.format]
        self._halves = family.rotary_rows[checkpoint.format] == "halves"
        self._config = config
        self._dtype = dtype
        self._device = device
        self._progress = progress
        self._done = 0
        expected = self._expected()
        self.count = len(expected)
        self.parameters = sum(torch.Size(shape).numel() for shape in expected.values())
        self._check(expected, family.ignored[checkpoint.format])

    def one(self, role: str, layer: int = 0, kind: str = "weight") -> torch.Tensor:
        """Read a weight (or bias) onto the device."""
        return self._read(role, layer, kind).to(self._device)

    def joined(self, some: tuple[str, ...], layer: int) -> torch.Tensor:
        """Read the weights of several products with the same input as one: rows below rows."""
        return torch.cat([self._read(role, layer, "weight") for role in some]).to(self._device)

    def joined_bias(self, some: tuple[str, ...], layer: int) -> torch.Tensor | None:
        """Read the biases of several products as one, 0 where a product has none."""
        if not self._config.biases.intersection(some):
            return None
        _, shapes = roles(self._config)
        parts = [
            self._read(role, layer, "bias")
            if role in self._config.biases
            else torch.zeros(shapes[role][0], dtype=self._dtype)
            for role in some
        ]
        return torch.cat(parts).to(self._device)

    def _read(self, role: str, layer: int, kind: str) -> torch.Tensor:
        name = f"{self._names[role].format(layer)}.{kind}"
        tensor = self._checkpoint.tensor(name, self._dtype)
        if self._halves and role in ("q", "k"):
            heads = self._config.heads if role == "q" else self._config.kv_heads
            tensor = interleaved(tensor, heads)
        self._done += 1
        if self._progress is not None:
            self._progress("weights", self._done, self.count)
        return tensor

    def _expected(self) -> dict[str, Shape]:
        once, every = roles(self._config)
        expected = {f"{self._names[role]}.weight": shape for role, shape in once.items()}
        for layer in range(self._config.layers):
            for role, shape in every.items():
                name = self._names[role].format(layer)
                expected[f"{name}.weight"] = shape
                if role in self._config.biases:
                    expected[f"{name}.bias"] = shape[:1]
        return expected

    def _check(self, expected: dict[str, Shape], ignored: tuple[str, ...]) -> None:
        there = self._checkpoint.names()
        if missing := [name for name in expected if name not in there]:
            raise self._refused(missing, "missing")
        for name, shape in expected.items():
            if (found := tuple(self._checkpoint.shape(name))) != shape:
                problem = f"has shape {list(found)}; its settings ask for {list(shape)}"
                raise ModelError(f"{shown(self._checkpoint.path)}: tensor {quoted(name)} {problem}")
        known = re.compile("|".join(ignored))
        unknown = sorted(name for name in there - expected.keys() if not known.fullmatch(name))
        if self._config.tied_head and (head := f"{self._names['head']}.weight") in unknown:
            self._check_tied(head)
            unknown.remove(head)
        if unknown:
            raise self._refused(unknown, "there but not known to this family")

    def _check_tied(self, head: str) -> None:
        """A head beside "the head is the embedding" is fine where the two are the same."""
        embedding = f"{self._names['embedding']}.weight"
        if not torch.equal(self._checkpoint.tensor(head), self._checkpoint.tensor(embedding)):
            problem = f"{quoted(head)} differs from {quoted(embedding)}, but the settings tie them"
            raise ModelError(f"{shown(self._checkpoint.path)}: tensor {problem}")

    def _refused(self, names: list[str], what: str) -> ModelError:
        more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
        some = ", ".join(quoted(name) for name in names[:3])
        verb = "is" if len(names) == 1 else "are"
        noun = "tensor" if len(names) == 1 else "tensors"
        return ModelError(f"{shown(self._checkpoint.path)}: {noun} {some}{more} {verb} {what}")
