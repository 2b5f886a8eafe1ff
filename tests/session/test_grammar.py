"""A grammar in a session: it holds wherever the text is taken to, and says where it stands."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.session.conftest import OPEN
from tokenloop.errors import DistributionError, SettingError
from tokenloop.sampling import Grammar, SamplerSettings
from tokenloop.session import Session

if TYPE_CHECKING:
    from tokenloop.records import StageRecord
    from tokenloop_models.model import Model

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 5}, "old": {"type": "boolean"}},
    "required": ["name", "old"],
    "additionalProperties": False,
}


def regex(text: str, **changes: object) -> SamplerSettings:
    return OPEN.replace(grammar=Grammar("regex", text), **changes)


def stage(session: Session) -> StageRecord:
    return next(stage for stage in session.held.stages if stage.name == "grammar")


def new_text(session: Session) -> str:
    ids = session.ids[session.snapshot().prompt_length :]
    return b"".join(session._tokenizer.token_bytes(i) for i in ids).decode(errors="replace")


def survivors(session: Session) -> set[int]:
    return {c.id for c in session.held.candidates if c.cut_by is None}


def run(session: Session, most: int = 60) -> str:
    for _ in range(most):
        if session.ended:
            break
        session.step()
    return new_text(session).removesuffix("<|im_end|>")


@pytest.mark.parametrize("seed", range(4))
def test_random_weights_write_valid_json(tiny_model: Model, seed: int) -> None:
    settings = OPEN.replace(grammar=Grammar("json_schema", json.dumps(SCHEMA)))
    session = Session(tiny_model, settings=settings, seed=seed)
    session.open(session.encode("x"))
    written = json.loads(run(session))
    assert session.ended
    assert set(written) == {"name", "old"}
    assert isinstance(written["old"], bool)
    assert len(written["name"]) <= 5


def test_the_mask_is_a_stage_with_what_the_model_would_have_said(session: Session) -> None:
    best = session.held.candidates[0]
    session.configure(regex("[0-9]{3}"))
    grammar = stage(session)
    assert (grammar.survivors_before, grammar.survivors) == (299, 10)
    assert grammar.figures["allowed"] == 10
    assert grammar.figures["best_cut"] == best.label
    assert grammar.figures["best_cut_p"] == pytest.approx(best.p)
    assert grammar.note is not None
    assert f"would have said {best.label}" in grammar.note
    assert session.held.candidates[0].cut_by == "grammar"
    assert grammar.mass_cut > 0.5


def test_it_says_when_the_text_may_end_and_when_it_must(session: Session) -> None:
    session.configure(regex("a{1,2}"))
    assert stage(session).figures["state"] == "not complete yet"
    session.step()
    assert stage(session).figures["state"] == "may end here"
    session.force(session.ids[-1])
    assert stage(session).figures["state"] == "complete: only the end of the text is left"
    session.step()
    assert session.ended
    assert stage(session).skipped == "the text has ended: the grammar no longer constrains"
    assert stage(session).survivors == 299


def test_a_rewind_brings_back_what_was_allowed_there(session: Session) -> None:
    session.configure(regex("ab[0-9]c*"))
    seen = [session.held]
    for _ in range(5):
        session.step()
        seen.append(session.held)
    for length in (3, 1, 4, 0, 2):
        session.rewind_to(session.snapshot().prompt_length + length)
        assert session.held == seen[length]
        while len(session.ids) < session.snapshot().prompt_length + 5:
            session.step()


def test_an_edit_and_a_branch_go_on_from_where_the_new_text_stands(session: Session) -> None:
    prompt = session.text
    session.configure(regex("(ab|cd)x[0-9]"))
    session.type("ab")
    assert new_text(session) == "ab"
    assert [c.label for c in session.held.candidates if c.cut_by is None] in ([], ["x"])
    session.edit(prompt + "cd")
    assert stage(session).figures["allowed"] == 1
    session.edit(prompt + "c")
    assert session.held.chosen.label == "d"
    session.rewind_to(session.snapshot().prompt_length)
    assert run(session)[:2] in ("ab", "cd")


def test_a_forced_token_outside_frees_the_text_from_there_on_and_says_so(session: Session) -> None:
    session.configure(regex("[0-9]{4}"))
    session.step()
    outside = session._tokenizer.encode("s")[0]
    session.force(outside)
    session.step()
    grammar = stage(session)
    assert grammar.skipped == "left at new token 2 (s): the grammar no longer constrains"
    assert grammar.survivors == 299
    session.rewind_to(session.snapshot().prompt_length + 1)
    assert stage(session).figures["allowed"] == 10


def test_an_end_that_comes_too_early_is_outside(session: Session, tiny_model: Model) -> None:
    session.configure(regex("[0-9]{4}"))
    session.force(tiny_model.tokenizer.eos_ids[0])
    assert "left at new token 1 (<|im_end|>)" in str(stage(session).skipped)


def test_special_tokens_spell_no_text(session: Session, tiny_model: Model) -> None:
    session.configure(regex(".*"))
    specials = {i for i in range(299) if tiny_model.tokenizer.is_special(i)}
    session.show(299)
    assert specials & survivors(session) == set(tiny_model.tokenizer.eos_ids)


def test_it_composes_with_top_k_greedy_and_any_order(session: Session) -> None:
    session.configure(regex("[0-9]{8}", temperature=0.0, top_k=1))
    digits = run(session, 8)
    assert len(digits) == 8
    assert digits.isdigit()
    session.rewind_to(session.snapshot().prompt_length)
    session.configure(regex("[0-9]{8}", order="transformers", top_k=3))
    assert stage(session).survivors == 10
    assert session.held.tail.cut.get("top_k", 0) + sum(
        c.cut_by == "top_k" for c in session.held.candidates
    ) == (10 - 3)


def test_a_cut_before_it_that_leaves_nothing_is_a_dead_end_with_a_reason(session: Session) -> None:
    before = session.settings
    chain = ("top_k", "grammar", "temperature")
    with pytest.raises(DistributionError, match=r"dead end after 0 new tokens: of the 10 tokens"):
        session.configure(regex("[0-9]", stages=chain, top_k=1))
    assert session.settings == before


def test_a_switched_off_grammar_constrains_nothing(session: Session) -> None:
    session.configure(regex("[0-9]", off=("grammar",)))
    assert stage(session).skipped == "off: switched off"
    assert stage(session).survivors == 299


@pytest.mark.parametrize(
    ("kind", "text", "says"),
    [
        ("regex", "(a", "unclosed group"),
        ("regex", "\ud800", "half of a surrogate pair"),
        ("json_schema", "{", "no JSON"),
        ("json_schema", "[1]", "object, true or false"),
        ("json_schema", '{"type": "strin"}', "Invalid type"),
        ("json_schema", "false", "no text matches it"),
        ("lark", "start: (", "Expected token"),
        ("lark", "start: start", "no text of this vocabulary matches it"),
        ("gbnf", "root ::= foo", "'foo' not found"),
    ],
)
def test_a_faulty_grammar_is_one_line_and_the_settings_stay(
    session: Session, kind: str, text: str, says: str
) -> None:
    before = session.snapshot()
    with pytest.raises(SettingError, match=says) as caught:
        session.configure(OPEN.replace(grammar=Grammar(kind, text)))
    assert "\n" not in str(caught.value)
    assert session.snapshot() == before


def test_a_faulty_grammar_is_refused_before_there_is_a_prompt(tiny_model: Model) -> None:
    session = Session(tiny_model, settings=OPEN)
    with pytest.raises(SettingError, match="unclosed group"):
        session.configure(regex("(a"))
    assert session.settings == OPEN


def test_no_pass_runs_for_a_new_grammar(session: Session) -> None:
    cache = session.snapshot().cache
    session.configure(regex("[0-9]"))
    session.configure(regex("[a-z]"))
    assert session.snapshot().cache == cache
    assert session.held.chosen.label.isalpha()
