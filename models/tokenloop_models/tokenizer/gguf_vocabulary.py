"""The tokens in the metadata of a GGUF file: their spelling, and what each is."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from tokenizers import AddedToken

from tokenloop_models.errors import ModelError, quoted
from tokenloop_models.file_kinds import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from pathlib import Path

    import tokenizers

PREFIX = "tokenizer.ggml."
NORMAL, UNKNOWN, CONTROL, USER_DEFINED, UNUSED, BYTE = range(1, 7)


class GgufVocabulary:
    """The tokens that a GGUF file lists, checked.

    Attributes:
        path: the file, for errors.
        metadata: all its keys; arrays as lists.
        tokens: each id's spelling.
        types: what each id is (see :data:`NORMAL` and the following).
        ids: the id of each spelling.
    """

    def __init__(
        self,
        path: Path,
        metadata: Mapping[str, Any],
        *,
        written: Callable[[str], str] = str,
    ) -> None:
        """Read and check the lists.

        Args:
            path: the file, for errors.
            metadata: all its keys; arrays as lists.
            written: from a user-defined token's spelling to how it stands in a text.

        Raises:
            ModelError: a list is missing, of another length or says something impossible.
        """
        self.path = path
        self.metadata = metadata
        self.tokens: list[str] = list(self.listed("tokens", str))
        self.types: list[int] = self.listed("token_type", int, len(self.tokens))
        unknown = set(self.types) - set(range(NORMAL, BYTE + 1))
        if unknown:
            problem = f"{quoted(min(unknown))} is not known; {NORMAL} to {BYTE} are"
            raise self.error("token_type", problem)
        for token_id in self.of_type(USER_DEFINED):
            self.tokens[token_id] = written(self.tokens[token_id])
        self.ids: dict[str, int] = {token: n for n, token in enumerate(self.tokens)}
        if len(self.ids) < len(self.tokens):
            twice = Counter(self.tokens).most_common(1)[0][0]
            problem = f"{quoted(twice)} is there twice, once as {self.ids[twice]}"
            raise self.error("tokens", problem)

    def error(self, key: str, problem: str) -> ModelError:
        """Make the one line that says what is wrong with a key."""
        return ModelError(f"{shown(self.path)}: {PREFIX}{key}: {problem}")

    def listed(self, key: str, kind: type, count: int | None = None) -> list[Any]:
        """Return a key that holds a list of one kind of value, one for each token if counted."""
        values = self.metadata.get(PREFIX + key)
        if not isinstance(values, list) or not values or type(values[0]) is not kind:
            raise self.error(key, f"is missing; a list of {kind.__name__} is needed")
        if count is not None and len(values) != count:
            raise self.error(key, f"{len(values):,} entries for {count:,} tokens")
        return values

    def flag(self, key: str, default: bool) -> bool:
        """Return a key that holds true or false."""
        value = self.metadata.get(PREFIX + key, default)
        if not isinstance(value, bool):
            raise self.error(key, f"{quoted(value)}; true or false is allowed")
        return value

    def token_id(self, name: str, default: int | None = None) -> int | None:
        """Return the id that the file gives to ``bos``, ``eos`` and so on."""
        value = self.metadata.get(f"{PREFIX}{name}_token_id", default)
        if value is not None and (type(value) is not int or not 0 <= value < len(self.tokens)):
            problem = f"{quoted(value)}; 0 to {len(self.tokens) - 1:,} are allowed"
            raise self.error(f"{name}_token_id", problem)
        return value

    def of_type(self, kind: int) -> list[int]:
        """Return the ids of one type."""
        return [token_id for token_id, its_kind in enumerate(self.types) if its_kind == kind]

    def add_to(self, backend: tokenizers.Tokenizer, *, eats_spaces: Collection[int] = ()) -> None:
        """Make the backend find control and user-defined tokens in a text.

        Args:
            backend: which one.
            eats_spaces: ids of tokens that take the white space after them with them.
        """
        for kind, add in (
            (CONTROL, backend.add_special_tokens),
            (USER_DEFINED, backend.add_tokens),
        ):
            add([self._added(n, rstrip=n in eats_spaces) for n in self.of_type(kind)])

    def _added(self, token_id: int, *, rstrip: bool) -> AddedToken:
        special = self.types[token_id] == CONTROL
        return AddedToken(self.tokens[token_id], normalized=False, special=special, rstrip=rstrip)
