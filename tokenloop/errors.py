"""What can go wrong by a person's hand: each says what it was and what is allowed."""

from __future__ import annotations


class TokenloopError(Exception):
    """A fault that a person can mend; its text is one clean line."""


class SettingError(TokenloopError):
    """A setting that can't be honoured."""

    def __init__(self, name: str, value: object, allowed: str) -> None:
        self.name = name
        self.value = value
        self.allowed = allowed
        super().__init__(f"{name} = {value!r} is not possible: {allowed}")


class SessionError(TokenloopError):
    """A command that the session can't carry out; the session is as it was."""


class ContextFullError(SessionError):
    """The prefix has reached the model's context length."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"context full at {limit:,} positions: rewind or edit to go on")


class DistributionError(SessionError):
    """Logits that nothing can be drawn from."""
