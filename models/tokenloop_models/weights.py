"""A checkpoint's weights by what they do, checked as a whole before the first one is read."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import torch

from tokenloop_models.errors import ModelError, quoted
from tokenloop_models.file_kinds import shown
from tokenloop_models.naming import Naming
from tokenloop_models.parts.rope import interleaved
from tokenloop_models.roles import Shape, roles_of_layer, roles_once

if TYPE_CHECKING:
    from collections.abc import Callable

    from tokenloop_models.checkpoint import Checkpoint
    from tokenloop_models.config import DecoderConfig
    from tokenloop_models.families.family import Family
    from tokenloop_models.gguf_types import TensorType
    from tokenloop_models.naming import Place

TURNED = ("q", "k", "q_norm", "k_norm")
"""Roles whose rows are features that a rotary embedding pairs."""


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
        self._stored = family.stored[checkpoint.format]
        self._naming = Naming(self._stored, checkpoint.names())
        self._config = config
        self._dtype = dtype
        self._device = device
        self._progress = progress
        self._done = 0
        self._once = roles_once(config)
        self._of_layer = [roles_of_layer(config, layer) for layer in config.layers]
        self._held: dict[str, torch.Tensor] = {}
        self._held_layer = 0
        expected = self._expected()
        self.count = len(expected)
        self.parameters = sum(torch.Size(shape).numel() for shape in expected.values())
        self._check(expected)

    def one(self, role: str, layer: int = 0) -> torch.Tensor:
        """Read a weight onto the device."""
        return self._read(role, layer, "weight").to(self._device)

    def joined(
        self, some: tuple[str, ...], layer: int = 0, expert: int | None = None
    ) -> torch.Tensor:
        """Read the weights of several products with the same input as one: rows below rows.

        Args:
            some: their roles.
            layer: of which layer.
            expert: of which expert, where the roles are stacks.
        """
        rows = [self._read(role, layer, "weight", expert) for role in some]
        return torch.cat(rows).to(self._device)

    def size(self, some: tuple[str, ...], layer: int = 0) -> tuple[int, int]:
        """Outputs and inputs of several products with the same input, taken as one."""
        shapes = [self._shape(role, layer) for role in some]
        return sum(shape[-2] for shape in shapes), shapes[0][-1]

    def block_types(
        self, some: tuple[str, ...], layer: int = 0, expert: int | None = None
    ) -> list[TensorType | None]:
        """Say in what blocks each weight is stored; ``None``: in none."""
        types = []
        for role in some:
            names = self._place(role, layer).names
            name = names[0] if expert is None or len(names) == 1 else names[expert]
            types.append(self._checkpoint.block_type(f"{name}.weight"))
        return types

    def blocks(self, role: str, layer: int = 0, expert: int | None = None) -> torch.Tensor:
        """Read a weight as it is stored, its rows in the decoder's order: (rows, row bytes)."""
        return self._read(role, layer, "blocks", expert)

    def joined_bias(self, some: tuple[str, ...], layer: int = 0) -> torch.Tensor | None:
        """Read the biases of several products as one, 0 where a product has none."""
        if not self._config.biases.intersection(some):
            return None
        parts = [
            self._read(role, layer, "bias")
            if role in self._config.biases
            else torch.zeros(self._shape(role, layer)[0], dtype=self._dtype)
            for role in some
        ]
        return torch.cat(parts).to(self._device)

    def _read(self, role: str, layer: int, kind: str, expert: int | None = None) -> torch.Tensor:
        """A role's weight, bias or blocks as the decoder wants them, however they are stored."""
        place = self._place(role, layer)
        if expert is not None and len(place.names) > 1:
            tensor = self._tensor(place.names[expert], kind)
        elif expert is not None:
            tensor = self._held_tensor(place.names[0], kind, layer)[expert]
        elif len(place.names) > 1:
            tensor = torch.stack([self._tensor(name, kind) for name in place.names])
        elif len(place.roles) > 1:
            tensor = self._held_tensor(place.names[0], kind, layer)
        else:
            tensor = self._tensor(place.names[0], kind)
        if role in self._stored.transposed and kind == "weight":
            tensor = tensor.t()
        if len(place.roles) > 1:
            tensor = self._rows(tensor, role, place, layer)
        if role in TURNED and self._stored.rotary_rows == "halves":
            tensor = self._paired(tensor, role, layer)
        if role.endswith("norm") and kind == "weight" and self._stored.added_to_norms:
            tensor = tensor + self._stored.added_to_norms
        return tensor

    def _rows(self, tensor: torch.Tensor, role: str, place: Place, layer: int) -> torch.Tensor:
        """A role's own rows of a tensor that holds several."""
        index = place.roles.index(role)
        if self._stored.by_head:
            heads = tensor.view(-1, len(place.roles), self._config.head_dim, *tensor.shape[1:])
            return heads[:, index].flatten(0, 1)
        sizes = [self._shape(each, layer)[0] for each in place.roles]
        return torch.split(tensor, sizes)[index]

    def _paired(self, tensor: torch.Tensor, role: str, layer: int) -> torch.Tensor:
        """The same with the features of a rotary pair side by side."""
        rotary = self._config.layers[layer].rotary
        if rotary is None:
            return tensor
        rows = tensor.flatten() if role.endswith("norm") else tensor
        heads = len(rows) // self._config.head_dim
        return interleaved(rows.contiguous(), heads, 2 * rotary.pairs).view_as(tensor)

    def _held_tensor(self, name: str, kind: str, layer: int) -> torch.Tensor:
        """A tensor that several roles or experts of a layer are parts of: it is read once."""
        if layer != self._held_layer:
            self._held.clear()
            self._held_layer = layer
        full = f"{name}.{kind}"
        if full not in self._held:
            self._held[full] = self._tensor(name, kind)
        return self._held[full]

    def _tensor(self, name: str, kind: str) -> torch.Tensor:
        if kind == "blocks":
            tensor = self._checkpoint.blocks(f"{name}.weight")
        else:
            tensor = self._checkpoint.tensor(f"{name}.{kind}", self._dtype)
        self._done += 1
        if self._progress is not None:
            self._progress("weights", self._done, self.count)
        return tensor

    def _shape(self, role: str, layer: int) -> Shape:
        return self._once[role] if role in self._once else self._of_layer[layer][role]

    def _place(self, role: str, layer: int) -> Place:
        return self._naming.place(role, layer, self._shape(role, layer)[0])

    def _expected(self) -> dict[str, Shape]:
        """The file's tensors and their shapes, as the settings ask for them."""
        every = [(role, 0) for role in self._once]
        every += [(role, layer) for layer, roles in enumerate(self._of_layer) for role in roles]
        expected: dict[str, Shape] = {}
        for role, layer in every:
            place = self._place(role, layer)
            shape = self._shape(role, layer)
            if len(place.names) > 1:
                shape = shape[1:]
            rows = sum(self._shape(each, layer)[0] for each in place.roles)
            shape = (rows, *shape[1:]) if len(place.roles) > 1 else shape
            for name in place.names:
                turned = shape[::-1] if role in self._stored.transposed else shape
                expected[f"{name}.weight"] = turned
                if role in self._config.biases:
                    expected[f"{name}.bias"] = shape[:1]
        return expected

    def _check(self, expected: dict[str, Shape]) -> None:
        there = self._checkpoint.names()
        if missing := [name for name in expected if name not in there]:
            raise self._refused(missing, "missing")
        for name, shape in expected.items():
            if (found := tuple(self._checkpoint.shape(name))) != shape:
                problem = f"has shape {list(found)}; its settings ask for {list(shape)}"
                raise ModelError(f"{shown(self._checkpoint.path)}: tensor {quoted(name)} {problem}")
        known = re.compile("|".join(self._stored.ignored))
        unknown = sorted(name for name in there - expected.keys() if not known.fullmatch(name))
        head = f"{self._naming.place('head', 0, 1).names[0]}.weight"
        if self._config.tied_head and head in unknown:
            self._check_tied(head)
            unknown.remove(head)
        if unknown:
            raise self._refused(unknown, "there but not known to this family")

    def _check_tied(self, head: str) -> None:
        """A head beside "the head is the embedding" is fine where the two are the same."""
        embedding = f"{self._place('embedding', 0).names[0]}.weight"
        if not torch.equal(self._checkpoint.tensor(head), self._checkpoint.tensor(embedding)):
            problem = f"{quoted(head)} differs from {quoted(embedding)}, but the settings tie them"
            raise ModelError(f"{shown(self._checkpoint.path)}: tensor {problem}")

    def _refused(self, names: list[str], what: str) -> ModelError:
        more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
        some = ", ".join(quoted(name) for name in names[:3])
        verb = "is" if len(names) == 1 else "are"
        noun = "tensor" if len(names) == 1 else "tensors"
        return ModelError(f"{shown(self._checkpoint.path)}: {noun} {some}{more} {verb} {what}")
