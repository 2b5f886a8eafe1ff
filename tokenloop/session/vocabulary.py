"""Tokens as records: ids with the bytes, text and label that belong to them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokenloop.labels import label
from tokenloop.records import Candidate, Token

if TYPE_CHECKING:
    from tokenloop_models.tokenizer import Tokenizer


class Vocabulary:
    """Makes each token's record once."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self._tokens: dict[int, Token] = {}

    def token(self, token_id: int) -> Token:
        """The record of a token; an id without an entry shows as ``<unused N>``."""
        token = self._tokens.get(token_id)
        if token is None:
            token = self._tokens[token_id] = self._make(token_id)
        return token

    def candidate(
        self,
        token_id: int,
        *,
        rank: int,
        logit: float,
        p: float,
        final_p: float | None,
        cut_by: str | None = None,
        after: tuple[float, ...] = (),
    ) -> Candidate:
        """The record of a token as a possible next one; the facts are :class:`Candidate`'s."""
        token = self.token(token_id)
        return Candidate(
            id=token.id,
            text=token.text,
            bytes_hex=token.bytes_hex,
            label=token.label,
            special=token.special,
            rank=rank,
            logit=logit,
            p=p,
            final_p=final_p,
            cut_by=cut_by,
            after=after,
        )

    def raw(self, token_id: int) -> bytes:
        """The bytes that a token stands for."""
        return bytes.fromhex(self.token(token_id).bytes_hex)

    def encode(self, text: str) -> list[int]:
        """A fragment of text as ids; nothing in it means a special token."""
        return self.tokenizer.encode(text, continues=True)

    def label(self, token_id: int) -> str:
        """How a token is printed."""
        return self.token(token_id).label

    def _make(self, token_id: int) -> Token:
        raw = self.tokenizer.token_bytes(token_id)
        try:
            text = raw.decode() if raw else None
        except UnicodeDecodeError:
            text = None
        return Token(
            id=token_id,
            text=text,
            bytes_hex=raw.hex(),
            label=label(raw) or f"<unused {token_id}>",
            special=self.tokenizer.is_special(token_id),
        )
