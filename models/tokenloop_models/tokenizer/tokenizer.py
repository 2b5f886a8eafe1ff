"""Text to ids and back, with every token's bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tokenloop_models.errors import ModelError
from tokenloop_models.tokenizer.library import faults_as
from tokenloop_models.tokenizer.spelling import literal

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    import tokenizers


class Tokenizer:
    """Between text and token ids.

    The ids come from the ``tokenizers`` library, the bytes of a token from its spelling. What was
    cut into tokens joins to the text's bytes again, up to what the vocabulary itself changes: a
    SentencePiece vocabulary puts a space in front, Qwen's composes accents first (NFC), and a
    vocabulary trained without a rare byte leaves it out (SmolLM2's lacks six control characters).

    One thread at a time: a call switches the library's handling of special tokens.

    Attributes:
        size: one more than the largest id that has an entry; the logits may be wider.
        bos_id: the token that starts a text, where there is one.
        eos_ids: the tokens that end one.
        add_bos: whether the model expects ``bos_id`` in front of a text.
        notices: what a person must know of it before trusting the ids; mostly empty.
    """

    def __init__(
        self,
        backend: tokenizers.Tokenizer,
        fragments: tokenizers.Tokenizer,
        tokens: Sequence[str | None],
        spelling: Callable[[str], bytes],
        *,
        specials: Collection[int],
        literals: Collection[int],
        bos_id: int | None,
        eos_ids: Sequence[int],
        add_bos: bool,
        notices: Sequence[str] = (),
    ) -> None:
        """Put together what a loader has read.

        Args:
            backend: encodes a text from its start.
            fragments: encodes a text that follows other tokens; may be the same.
            tokens: each id's spelling, ``None`` where the id has no entry.
            spelling: from a token's spelling to its bytes.
            specials: control tokens, such as ``<|im_end|>``.
            literals: further tokens that were added as text and stand for themselves.
            bos_id: the token that starts a text, where there is one.
            eos_ids: the tokens that end one.
            add_bos: whether the model expects ``bos_id`` in front of a text.
            notices: what a person must know of it before trusting the ids.
        """
        self._backend = backend
        self._fragments = fragments
        self._tokens = list(tokens)
        while self._tokens and self._tokens[-1] is None:
            self._tokens.pop()
        self._spelling = spelling
        self._specials = frozenset(specials)
        self._literals = frozenset(literals) | self._specials
        self.size = len(self._tokens)
        self.bos_id = bos_id
        self.eos_ids = tuple(eos_ids)
        self.add_bos = add_bos
        self.notices = tuple(notices)

    def encode(self, text: str, *, specials: bool = False, continues: bool = False) -> list[int]:
        """Cut a text into tokens; never adds a BOS.

        Args:
            text: anything a person may type.
            specials: whether ``<|im_end|>`` in it means the special token; else it is plain text.
            continues: the text follows other tokens, so SentencePiece puts no space before it.

        Raises:
            ModelError: the text has half of a surrogate pair in it, or the library fails on it.
        """
        try:
            text.encode("utf-8")
        except UnicodeEncodeError as error:
            problem = f"character {error.start} is half of a surrogate pair, which is no text"
            raise ModelError(f"text: {problem}; whole Unicode characters are allowed") from None
        backend = self._fragments if continues else self._backend
        backend.encode_special_tokens = not specials
        with faults_as("text: can't be cut into tokens"):
            return backend.encode(text, add_special_tokens=False).ids

    def decode(self, ids: Sequence[int]) -> str:
        """Join the tokens' bytes; what is no whole character shows as U+FFFD."""
        return b"".join(map(self.token_bytes, ids)).decode("utf-8", "replace")

    def token_bytes(self, token_id: int) -> bytes:
        """Return the bytes a token stands for: its name where it is special, b"" where unused."""
        token = self._tokens[token_id] if 0 <= token_id < self.size else None
        if token is None:
            return b""
        return literal(token) if token_id in self._literals else self._spelling(token)

    def is_special(self, token_id: int) -> bool:
        """Say whether an id is a control token, not text."""
        return token_id in self._specials

    def id_of(self, text: str) -> int | None:
        """Return the id of the vocabulary entry spelled so (``<|im_end|>``), if there is one."""
        return self._backend.token_to_id(text)
