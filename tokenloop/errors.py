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
    """What was asked for does not fit into the model's context."""

    def __init__(self, limit: int, *, given: int | None = None) -> None:
        """Say what is full, or how much too long a text is.

        Args:
            limit: the model's context length in tokens.
            given: tokens of the whole text, where text was given that does not fit.
        """
        self.limit = limit
        self.given = given
        message = f"context full at {limit:,} positions: rewind or edit to go on"
        if given is not None:
            message = f"the text is {given:,} tokens: the context holds {limit:,}"
        super().__init__(message)


class DistributionError(SessionError):
    """Logits that nothing can be drawn from."""
