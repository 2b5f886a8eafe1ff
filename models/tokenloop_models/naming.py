"""From a role to the tensors of a file that hold it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from tokenloop_models.families.family import Stored


@dataclass(frozen=True)
class Place:
    """Where a role's weight lies.

    Attributes:
        names: of its tensor, or of all members of a stack, without ``.weight`` and ``.bias``.
        roles: whose rows the tensor holds, from the first to the last: often only its own.
    """

    names: tuple[str, ...]
    roles: tuple[str, ...]


class Naming:
    """One file's names: its family's, with the prefix and the fusions that this file has."""

    def __init__(self, stored: Stored, there: Collection[str]) -> None:
        """Find out what the file has.

        Args:
            stored: what the family says of the format.
            there: the names of the file's tensors.
        """
        self._there = there
        self._usual = stored.prefixes[0] if stored.prefixes else ""
        self._prefix = self._usual
        embedding = stored.names["embedding"]
        for prefix in stored.prefixes:
            if f"{prefix}{embedding.removeprefix(self._usual)}.weight" in there:
                self._prefix = prefix
                break
        self._templates: dict[str, tuple[str, str]] = {}  # role → (all roles in it, its name)
        for together, template in stored.names.items():
            for role in together.split():
                if role not in self._templates or self._has(template):
                    self._templates[role] = (together, template)

    def place(self, role: str, layer: int, members: int) -> Place:
        """Find a role's tensors.

        Args:
            role: what is looked for.
            layer: of which layer.
            members: how many a stack of it has.
        """
        together, template = self._templates[role]
        stacked = template.count("{}") > 1
        names = [
            self._prefixed(template.format(layer, member))
            for member in range(members if stacked else 1)
        ]
        return Place(tuple(names), tuple(together.split()))

    def _prefixed(self, name: str) -> str:
        if not name.startswith(self._usual):
            return name
        return self._prefix + name.removeprefix(self._usual)

    def _has(self, template: str) -> bool:
        return f"{self._prefixed(template.format(0, 0))}.weight" in self._there
