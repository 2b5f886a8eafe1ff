"""What travels inside the app besides keys."""

from __future__ import annotations

from textual.message import Message


class News(Message):
    """The mailbox is no longer empty."""


class Wanted(Message):
    """The palette asks for a command, by its id."""

    def __init__(self, command: str) -> None:
        super().__init__()
        self.command = command


class SupplyChanged(Message):
    """A pull went on, ended or failed."""
