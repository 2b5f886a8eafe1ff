from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tokenloop.session.spans import Kept, cut_out, spans, splice

pieces = st.lists(st.binary(min_size=1, max_size=4), max_size=12)
texts = st.text(alphabet="ab é日😀\n", max_size=12)


def split_everywhere(text: str) -> list[bytes]:
    """The bytes of a text as tokens of one to three bytes, so that some split characters."""
    raw, cut = text.encode(), [1, 3, 2]
    parts, index = [], 0
    while index < len(raw):
        size = cut[len(parts) % 3]
        parts.append(raw[index : index + size])
        index += size
    return parts


@given(pieces)
def test_the_text_is_the_bytes_decoded(parts: list[bytes]) -> None:
    laid_out = spans(parts)
    assert laid_out.text == b"".join(parts).decode(errors="replace")
    assert list(laid_out.ends) == sorted(laid_out.ends)
    assert (laid_out.ends[-1] if parts else 0) == len(laid_out.text)


def test_a_split_character_belongs_to_the_token_that_completes_it() -> None:
    laid_out = spans([b"a", b"\xe6\x97", b"\xa5b"])
    assert laid_out.text == "a日b"
    assert laid_out.ends == (1, 1, 3)
    assert laid_out.whole == (True, False, True)


def edited(parts: list[bytes], new_text: str) -> list[list[bytes] | str]:
    return [
        parts[part.start : part.stop] if isinstance(part, Kept) else part
        for part in splice(spans(parts), new_text)
    ]


def joined(result: list[list[bytes] | str]) -> str:
    raw = b"".join(part.encode() if isinstance(part, str) else b"".join(part) for part in result)
    return raw.decode(errors="replace")


def test_only_the_changed_token_is_encoded() -> None:
    parts = [b"The", b" capital", b" is", b" Sydney", b".", b" Yes"]
    assert edited(parts, "The capital is Canberra. Yes") == [parts[:3], " Canberra", parts[4:]]


def test_two_changes_keep_what_lies_between() -> None:
    parts = [b"a", b" rain", b"<|im_end|>", b" Spain", b" b"]
    assert edited(parts, "a sun<|im_end|> Italy b") == [
        parts[:1],
        " sun",
        parts[2:3],
        " Italy",
        parts[4:],
    ]


def test_appending_keeps_every_token() -> None:
    parts = [b"The", b" cap"]
    assert edited(parts, "The capital") == [parts, "ital"]


def test_cutting_the_end_keeps_the_tokens_before() -> None:
    parts = [b"The", b" capital", b" is"]
    assert edited(parts, "The capital") == [parts[:2]]


def test_a_repeated_text_is_not_counted_twice() -> None:
    assert joined(edited([b"ha", b"ha", b"ha"], "haha")) == "haha"


def test_what_is_cut_out_takes_the_tokens_that_reach_into_it_along() -> None:
    old = spans([b"ab", b"cd", b"ef", b"gh"])
    assert cut_out(old, [(3, 5)]) == (Kept(0, 1), "cdef", Kept(3, 4))
    assert cut_out(old, [(0, 2), (6, 8)]) == ("ab", Kept(1, 3), "gh")
    assert cut_out(old, [(1, 2), (2, 3)]) == ("ab", "cd", Kept(2, 4))
    assert cut_out(old, []) == (Kept(0, 4),)


def test_a_token_inside_a_character_is_not_cut_apart() -> None:
    parts = [b"x", b"\xe6", b"\x97\xa5", b"y"]
    assert edited(parts, "x日z") == [parts[:3], "z"]
    assert edited(parts, "x本y") == [parts[:1], "本", parts[3:]]


@given(texts, texts)
def test_the_edit_comes_out_whatever_was_kept(old: str, new: str) -> None:
    assert joined(edited(split_everywhere(old), new)) == new


@given(pieces, texts)
def test_the_edit_comes_out_with_broken_bytes_as_well(parts: list[bytes], new: str) -> None:
    assert joined(edited(parts, new)) == new


@given(pieces)
def test_an_unchanged_text_keeps_every_token(parts: list[bytes]) -> None:
    assert [token for part in edited(parts, spans(parts).text) for token in part] == parts
