"""Tokens as records: ids with the bytes, text and label that belong to them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from tokenloop.labels import label
from tokenloop.records import Candidate, Token

if TYPE_CHECKING:
    from tokenloop_models.tokenizer import Tokenizer

_TOKEN_FIELDS = Token.__struct_fields__


class Vocabulary:
    """Makes each token's record once."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self._tokens: dict[int, Token] = {}

    @cached_property
    def pieces(self) -> list[bytes]:
        """The bytes of every token, by id: for a search. Read once, when first asked for."""
        return [self.tokenizer.token_bytes(token_id) for token_id in range(self.tokenizer.size)]

    @cached_property
    def lower_pieces(self) -> list[bytes]:
        """The same in small letters (A to Z only: other letters keep their bytes)."""
        return [piece.lower() for piece in self.pieces]

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
        return Candidate(
            **self.fields(token_id),
            rank=rank,
            logit=logit,
            p=p,
            final_p=final_p,
            cut_by=cut_by,
            after=after,
        )

    def fields(self, token_id: int) -> dict[str, Any]:
        """What every record of a token begins with."""
        token = self.token(token_id)
        return {name: getattr(token, name) for name in _TOKEN_FIELDS}

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
