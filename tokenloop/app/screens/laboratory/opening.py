"""Which view a command opens, and whether this is the moment for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokenloop.app.screens.laboratory.draws import DrawsScreen
from tokenloop.app.screens.laboratory.find import FindScreen
from tokenloop.app.screens.laboratory.orders import OrdersScreen
from tokenloop.app.screens.laboratory.sweep import SweepScreen
from tokenloop.app.screens.laboratory.through import ThroughScreen
from tokenloop.app.screens.laboratory.watch import WatchScreen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from tokenloop.app.conductor import Conductor
    from tokenloop.app.screens.laboratory.view_screen import ViewScreen
    from tokenloop.sampling.settings import SamplerSettings

VIEWS = frozenset({"through", "find", "orders", "draws", "sweep", "watch_list"})
"""The commands that open a view."""


def view_for(
    command: str,
    conductor: Conductor,
    keymap: dict[str, str],
    own: Mapping[str, SamplerSettings],
) -> ViewScreen | None:
    """The view of a command; ``None``, and the reason told, where there is nothing to look at.

    Args:
        command: one of :data:`VIEWS`.
        conductor: what is held.
        keymap: the person's own keys, by command id.
        own: the person's own presets, by name.
    """
    if command in ("through", "watch_list"):
        if not conductor.has_text():
            return None
        made = ThroughScreen if command == "through" else WatchScreen
        return made(conductor, keymap)
    if not conductor.may_ask("ask it anything"):
        return None
    match command:
        case "find":
            return FindScreen(conductor, keymap)
        case "orders":
            return OrdersScreen(conductor, keymap, own)
        case "draws":
            return DrawsScreen(conductor, keymap)
        case _:
            return SweepScreen(conductor, keymap)
