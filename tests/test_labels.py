from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenloop.labels import clean, label, unlabelled, visible


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        (b" Sydney", "␣Sydney"),
        (b"\n\n", "⏎⏎"),
        (b"\t", "⇥"),
        (b"\r\n", "␍⏎"),
        (b"\x1b[31m", "␛[31m"),
        (b"\x00", "␀"),
        (b"\x7f", "␡"),
        ("\x9b".encode(), "⟨U+009B⟩"),
        ("‮abc".encode(), "⟨U+202E⟩abc"),
        ("\u200d".encode(), "⟨U+200D⟩"),
        ("\xa0x".encode(), "⟨U+00A0⟩x"),
        ("❤️".encode(), "❤⟨U+FE0F⟩"),
        ("\u0301".encode(), "◌\u0301"),
        ("é日😀".encode(), "é日😀"),
        (b"\xe6\x97", "⟨E6·97⟩"),
        (b" \xf0\x9f", "␣⟨F0·9F⟩"),
        (b"\x9c\xacb", "⟨9C·AC⟩b"),
        (b"[/nope]", "[/nope]"),
        (b"", ""),
    ],
)
def test_every_byte_is_visible(raw: bytes, shown: str) -> None:
    assert label(raw) == shown


@given(st.binary(max_size=12) | st.text(max_size=6).map(lambda text: text.encode(errors="ignore")))
def test_a_label_never_drives_a_terminal(raw: bytes) -> None:
    for character in label(raw):
        assert unicodedata.category(character) not in {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
        assert not character.isspace()


def test_titles_keep_their_spaces() -> None:
    assert clean("a model\x1b[2J") == "a model␛[2J"
    assert visible("a b") == "a␣b"


@given(st.binary())
def test_what_a_label_stands_for_is_shown_as_that_label(raw: bytes) -> None:
    # A token may hold a label's sign itself, so the bytes need not be the same; their label is.
    assert label(unlabelled(label(raw))) == label(raw)


@pytest.mark.parametrize(
    "raw",
    [
        b" the",
        b"\n\t\r\x7f\x00\x1b[0m",
        b"\xe6\x97",
        b"a\xff\xc3b",
        "\u202ea\ufe0f".encode(),
        "\U0010fffe\U000f0000".encode(),
        "\u0301a".encode(),
        "日é".encode(),
    ],
)
def test_a_label_reads_back_as_the_bytes(raw: bytes) -> None:
    assert unlabelled(label(raw)) == raw
