"""The command palette: every command of the table by what it does."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual.command import DiscoveryHit, Hit, Hits, Provider
from textual.content import Content

from tokenloop.app.keys import COMMANDS, Command, keys_of
from tokenloop.app.messages import Wanted

if TYPE_CHECKING:
    from textual.visual import VisualType


class CommandProvider(Provider):
    """Finds commands by what they do."""

    async def discover(self) -> Hits:
        """All commands, in the table's order."""
        for command in COMMANDS:
            yield DiscoveryHit(self._shown(command), self._run(command), text=command.help)

    async def search(self, query: str) -> Hits:
        """Commands whose words match."""
        matcher = self.matcher(query)
        for command in COMMANDS:
            if (score := matcher.match(f"{command.id} {command.help}")) > 0:
                yield Hit(score, self._shown(command), self._run(command), text=command.help)

    def _run(self, command: Command) -> partial[bool]:
        return partial(self.app.post_message, Wanted(command.id))

    def _shown(self, command: Command) -> VisualType:
        keys = " ".join(keys_of(command, getattr(self.app, "commands_keymap", {})))
        return Content.assemble(f"{command.help}  ", (keys, "$text-muted"))
