"""Grammars on a vocabulary of a few tokens: what is allowed where, and what is refused."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from llguidance import LLParserLimits

from tokenloop.errors import DistributionError, SettingError
from tokenloop.sampling import Grammar
from tokenloop.sampling.grammar import PLACES, Alphabet, CompiledGrammar, compile_grammar
from tokenloop.sampling.grammar_source import SHORT, FaultyGrammarError, source_of

PIECES = (
    *(bytes([byte]) for byte in range(256)),
    b"ab",  # 256
    b"ab",  # 257: the same bytes once more
    b"<|end|>",  # 258
    b"",  # 259: unused
    b"<|im_start|>",  # 260
    b"<|stop|>",  # 261
    b" 1",  # 262
)
END, STOP, START, UNUSED = 258, 261, 260, 259
SPECIALS = (END, START, STOP)


def encode(text: str) -> list[int]:
    """The longest piece first, as a tokenizer would."""
    ids, rest = [], text.encode()
    while rest:
        found = next((piece for piece in (b"ab", b" 1") if rest.startswith(piece)), rest[:1])
        ids.append(PIECES.index(found))
        rest = rest[len(found) :]
    return ids


def label(token_id: int) -> str:
    return PIECES[token_id].decode(errors="replace")


ALPHABET = Alphabet(PIECES, SPECIALS, (END, STOP), encode, label)


def compiled(kind: str, text: str, alphabet: Alphabet = ALPHABET) -> CompiledGrammar:
    return compile_grammar(Grammar(kind, text), alphabet)


def allowed(grammar: CompiledGrammar, *ids: int) -> set[int]:
    mask = grammar.at(ids).allowed
    assert mask is not None
    assert mask.shape == (len(PIECES),)
    return set(np.flatnonzero(mask).tolist())


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("regex", "abc|1"),
        ("lark", 'start: "abc" | ONE\nONE: "1"'),
        ("gbnf", 'root ::= "abc" | one\none ::= [1]'),
        ("json_schema", '{"enum": [1]}'),
    ],
)
def test_every_kind_allows_what_begins_a_text_of_its_own(kind: str, text: str) -> None:
    begins = allowed(compiled(kind, text))
    letters = set() if kind == "json_schema" else {ord("a"), 256, 257}
    assert begins == {ord("1"), *letters}


def test_ids_with_the_same_bytes_are_all_allowed() -> None:
    grammar = compiled("regex", "(ab)+")
    assert allowed(grammar, 256) == allowed(grammar, 257) == {ord("a"), 256, 257, END, STOP}


def test_where_only_one_text_fits_the_tokenizers_own_cut_of_it_is_wanted() -> None:
    assert allowed(compiled("regex", "abc")) == {256}
    assert compiled("regex", "abc").at((ord("a"), ord("b"), ord("c"))).allowed is not None


def test_neither_special_nor_unused_tokens_spell_text() -> None:
    grammar = compiled("regex", r"[\s\S]*")
    assert allowed(grammar) & {START, UNUSED} == set()
    assert {END, STOP} <= allowed(grammar)
    spelled = compiled("regex", r"<\|im_start\|>")
    assert allowed(spelled) == {ord("<")}


def test_a_lark_grammar_may_name_a_special_token() -> None:
    assert allowed(compiled("lark", 'start: <|im_start|> "a"')) == {START}


def test_each_state_has_its_words() -> None:
    grammar = compiled("regex", "a{1,2}")
    a = ord("a")
    assert grammar.at(()).state == "not complete yet"
    assert grammar.at((a,)).state == "may end here"
    assert grammar.at((a, a)).state == "complete: only the end of the text is left"
    ended = grammar.at((a, STOP))
    assert ended.allowed is None
    assert ended.state == "the text has ended: the grammar no longer constrains"
    assert grammar.at((a, STOP, a)).allowed is None


@pytest.mark.parametrize("ids", [(97, 98, 97), (97, 98, 97, 97), (97, 98, START), (97, 98, END)])
def test_a_text_that_left_says_where_and_never_comes_back(ids: tuple[int, ...]) -> None:
    place = compiled("regex", "abc").at(ids)
    assert place.allowed is None
    assert place.state.startswith(f"left at new token 3 ({label(ids[2])})")


def test_a_cut_unlike_the_tokenizers_is_said() -> None:
    grammar = compiled("regex", "[ab 1]*")
    assert "cut unlike" not in grammar.at(encode("ab 1")).state
    assert "cut unlike the tokenizer would" in grammar.at((ord("a"), ord("b"))).state
    assert "cut unlike" not in grammar.at((256, ord(" "))).state  # a 1 may follow


def test_after_the_end_of_what_no_token_can_end_anything_may_come() -> None:
    alphabet = Alphabet(PIECES, SPECIALS, (), encode, label)
    place = compiled("regex", "ab", alphabet).at((256,))
    assert place.allowed is None
    assert place.state == "complete, no token ends a text: the grammar no longer constrains"


def test_a_limit_on_tokens_is_kept() -> None:
    grammar = compiled("lark", 'start: word "!"\nword[max_tokens=2]: /[a-z]+/')
    assert allowed(grammar, ord("x"), ord("y")) == {ord("!")}
    assert grammar.at([ord("x")] * 3).allowed is None


texts = st.lists(st.sampled_from([97, 98, 256, 257, 49, 32, 262, END, START]), max_size=8)


@given(st.lists(texts, min_size=1, max_size=90))
def test_where_a_text_stands_depends_on_nothing_but_the_text(order: list[list[int]]) -> None:
    grammar = compiled("regex", r"((ab| ?1)+x?)*")
    for ids in order:
        fresh = compiled("regex", r"((ab| ?1)+x?)*").at(ids)
        place = grammar.at(ids)
        assert place.state == fresh.state
        assert (place.allowed is None) == (fresh.allowed is None)
        assert place.allowed is None or (place.allowed == fresh.allowed).all()


def test_no_more_places_are_kept_than_said() -> None:
    grammar = compiled("regex", "a*")
    for length in range(3 * PLACES):
        grammar.at([97] * length)
    assert len(grammar._places) == PLACES


# --- what is refused -----------------------------------------------------------------------------

MANY = 4000


def refers_to(number: int) -> dict[str, object]:
    return {"properties": {"a": {"$ref": f"#/$defs/{number % MANY}"}}}


HOSTILE = {
    "rules": ("lark", "start: r0\n" + "".join(f'r{i}: "a" r{i + 1} | "b"\n' for i in range(MANY))),
    "terminals": ("lark", "start: A0\n" + "".join(f"A{i}: A{i + 1}\n" for i in range(MANY))),
    "brackets": ("lark", f"start: {'(' * 99_999}"),
    "gbnf": ("gbnf", f"root ::= {'(' * 99_999}"),
    "regex": ("regex", "(" * 99_999),
    "schema": ("json_schema", '{"items":' * 50_000 + "{}" + "}" * 50_000),
    "references": (
        "json_schema",
        json.dumps({"$ref": "#/$defs/0", "$defs": {str(i): refers_to(i + 1) for i in range(MANY)}}),
    ),
    "alternatives": ("regex", "|".join(f"w{i}" for i in range(150_000))),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_grammar_is_refused_in_one_line_and_ends_nothing(name: str) -> None:
    with pytest.raises(SettingError) as caught:
        compiled(*HOSTILE[name])
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_long_grammar_that_is_sound_is_taken() -> None:
    words = '", "'.join(f"word{i}" for i in range(2000))
    assert len(words) > SHORT
    assert allowed(compiled("json_schema", f'{{"enum": ["{words}"]}}')) == {ord('"')}


def test_what_takes_too_long_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tokenloop.sampling.grammar_source.SECONDS", 0.2)
    with pytest.raises(FaultyGrammarError, match=r"takes more than 0\.2 s"):
        source_of("regex", "a?" * 20_000, {})


def walk(grammar: CompiledGrammar, steps: int) -> None:
    for length in range(steps):
        assert grammar.at([97] * length).allowed is not None


def test_a_grammar_that_costs_too_much_later_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    few = LLParserLimits(step_max_items=40, verbose_errors=False)
    monkeypatch.setattr("tokenloop.sampling.grammar.limits", lambda: few)
    grammar = compiled("lark", 'start: s\ns: s s | s s s | "a"')
    with pytest.raises(DistributionError, match=r"^grammar: .*Too many items") as caught:
        walk(grammar, 20)
    assert "\n" not in str(caught.value)
    assert grammar.at([97]).allowed is not None


def test_a_long_grammar_may_name_a_special_token_too() -> None:
    words = " | ".join(f'"word{i}"' for i in range(400))
    assert len(words) > SHORT
    assert allowed(compiled("lark", f"start: <|im_start|> ({words})")) == {START}


def test_a_schema_that_would_not_be_enforced_in_full_is_refused() -> None:
    with pytest.raises(SettingError, match="uniqueItems"):
        compiled("json_schema", '{"type": "array", "uniqueItems": true}')


def test_json_does_not_stray_into_endless_whitespace() -> None:
    grammar = compiled("json_schema", '{"type": "object"}')
    assert ord(" ") in allowed(grammar, ord("{"))
    assert ord(" ") not in allowed(grammar, ord("{"), ord(" "))
    assert ord("\n") not in allowed(grammar, ord("{"))


def test_a_missing_extra_is_one_clear_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llguidance", None)
    with pytest.raises(SettingError, match=r"pip install 'tokenloop\[grammar\]'"):
        compiled("regex", "a")
