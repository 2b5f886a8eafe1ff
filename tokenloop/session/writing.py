"""From text to ids: those of a prompt, and those of an edit, which keeps what it does not touch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tokenloop.session.spans import Kept, Spans, cut_out, spans, splice
from tokenloop.session.vocabulary import Vocabulary

if TYPE_CHECKING:
    from tokenloop_models.tokenizer import Tokenizer


def layout(ids: Sequence[int], vocabulary: Vocabulary) -> Spans:
    """The text of a prefix and where each of its tokens lies in it."""
    return spans([vocabulary.raw(token_id) for token_id in ids])


def prompt_ids(text: str, tokenizer: Tokenizer, *, specials: bool) -> list[int]:
    """A text's ids, behind the BOS where the tokenizer wants one.

    Args:
        text: any text.
        tokenizer: the model's.
        specials: whether ``<|…|>`` in it means the special token rather than its characters.

    Raises:
        ModelError: the text can't be encoded.
    """
    ids = tokenizer.encode(text, specials=specials)
    bos = tokenizer.bos_id
    if tokenizer.add_bos and bos is not None and ids[:1] != [bos]:
        ids = [bos, *ids]
    return ids


def edited_ids(
    old: Sequence[int], text: str, vocabulary: Vocabulary, *, specials: bool
) -> list[int]:
    """The ids of an edited text: tokens outside what changed as they are, the rest encoded.

    An unchanged text with ``specials`` asks for the special tokens whose names were read as plain
    text before: those names are encoded anew, all around them stays.

    Args:
        old: the prefix before the edit.
        text: all of the text after it.
        vocabulary: of the ids.
        specials: as for :func:`prompt_ids`, in what is encoded.

    Raises:
        ModelError: the changed text can't be encoded.
    """
    before = layout(old, vocabulary)
    if specials and text == before.text:
        parts = cut_out(before, _names(text, vocabulary))
    else:
        parts = splice(before, text)
    ids: list[int] = []
    for part in parts:
        if isinstance(part, Kept):
            ids += old[part.start : part.stop]
        else:
            # A dummy leading space belongs to the first token of a text, maybe behind a BOS.
            continues = any(not vocabulary.token(known).special for known in ids)
            ids += vocabulary.tokenizer.encode(part, specials=specials, continues=continues)
    return ids


def _names(text: str, vocabulary: Vocabulary) -> list[tuple[int, int]]:
    """Where the names of special tokens begin and end in a text."""
    found: list[tuple[int, int]] = []
    done = 0
    for token_id in vocabulary.tokenizer.encode(text, specials=True):
        name = vocabulary.token(token_id).text
        if name and vocabulary.token(token_id).special and (at := text.find(name, done)) >= 0:
            done = at + len(name)
            found.append((at, done))
    return found
