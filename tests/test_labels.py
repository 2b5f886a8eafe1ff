from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tokenloop.labels import clean, label, visible


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
